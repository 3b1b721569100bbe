"""`llm-planner schema KIND`: JSON Schema of a kind of file, with which editors complete and check it."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

FORMATS = {  # kind: module and class of its model, and an example in the repository, or a folder of them
    "skill": ("llm_planner.skills.manifest", "SkillFile", "examples/skills/point_at/skill.yaml"),
    "world": ("llm_planner.simulation.worlds", "WorldFile", "examples/worlds/small_office.yaml"),
    "robot": ("llm_planner.robots.arm_entries", "ArmEntry", "config/robots"),
    "envelope": ("llm_planner.control.envelope", "EnvelopeFile", "config/envelope.yaml"),
    "privileges": ("llm_planner.plans.privileges.policy", "PrivilegesFile", "config/privileges.yaml"),
}


class _Generator(GenerateJsonSchema):
    """Generator of schemas in which keys may be left out, but not be null."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, a key of `FORMATS`."""
    module, name, _ = FORMATS[kind]
    model = getattr(importlib.import_module(module), name)
    return dict(model.model_json_schema(schema_generator=_Generator))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=FORMATS, help="kind of file")


def run(args: argparse.Namespace) -> int:
    print(json.dumps(schema(args.kind), indent=2))
    return 0
