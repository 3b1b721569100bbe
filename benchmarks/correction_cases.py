"""Corrections that people say, each with the situation that it is said in and the edits that are right.

For measuring only: nothing that reads corrections is written, prompted or trained from these files, and the kept half
is not even looked at for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_planner.corrections.edit_json import edit_from_json, operation_from_json
from llm_planner.corrections.edits import Clarify, Edit
from llm_planner.corrections.situation import Situation
from llm_planner.planning.report import plan_from_json, scene_from_json
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Vector3
from llm_planner.skills.library import load_skills

DATA = Path(__file__).parent / "data"
SITUATIONS = DATA / "correction_situations.json"
HALVES = {"open": DATA / "corrections_open.jsonl", "kept": DATA / "corrections_kept.jsonl"}


@dataclass(frozen=True)
class Case:
    """What somebody says in a situation (its name); each of the edits `accepted` is right."""

    kind: str
    world: str
    words: str
    situation: str
    accepted: tuple[Edit, ...]


def read_cases(path: Path) -> list[Case]:
    """All corrections of a file of one JSON object a line; raises InputError for an edit that is none."""
    return [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _case(row: Mapping[str, Any]) -> Case:
    expected = row["expected"]
    accepted = tuple(edit_from_json(values) for values in expected.get("any_of", [expected]))
    return Case(row["kind"], row["world"], row["words"], row["situation"], accepted)


def read_situations(path: Path = SITUATIONS) -> dict[str, Situation]:
    """All situations of a file, by their names, with the skills that ship."""
    library = load_skills(learned=False)
    found = {}
    for name, row in json.loads(path.read_text(encoding="utf-8")).items():
        scene = scene_from_json(row["scene"])
        found[name] = Situation(
            plan=plan_from_json(row["plan"]),
            scene=scene,
            skills={skill.name: skill for skill in library.for_scene(scene).signatures},
            viewpoint=viewpoint(row["viewpoint"]),
            version=row["version"],
            origins={thing: _point(point) for thing, point in row["origins"].items()},
            edits=tuple(map(edit_from_json, row["edits"])),
            asked=_question(row["asked"]),
        )
    return found


def _question(values: Mapping[str, Any] | None) -> Clarify | None:
    question = operation_from_json(values) if values else None
    return question if isinstance(question, Clarify) else None


def _point(values: Sequence[float]) -> Vector3:
    x, y, z = map(float, values)
    return x, y, z
