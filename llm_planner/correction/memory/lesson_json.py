"""Lessons as JSON: what the store keeps and `llm-planner memory export` prints."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from llm_planner.correction.edit_json import operation_from_json, operation_json
from llm_planner.correction.memory.lesson import Lesson, Occasion, Slots, State
from llm_planner.plan.edits import Scope


def lesson_json(lesson: Lesson) -> dict[str, Any]:
    """The lesson as plain values."""
    values = asdict(replace(lesson, operations=()))
    values["operations"] = [operation_json(operation) for operation in lesson.operations]
    return values | {"scope": lesson.scope.value, "state": lesson.state.value}


def lesson_from_json(values: dict[str, Any]) -> Lesson:
    """The lesson that `lesson_json` made these values of; raises InputError where an operation is none of ours."""
    return Lesson(
        **values
        | {
            "operations": tuple(map(operation_from_json, values["operations"])),
            "slots": Slots(**values["slots"]),
            "case": Slots(**values["case"]),
            "scope": Scope(values["scope"]),
            "provenance": Occasion(**values["provenance"]),
            "things": {name: Slots(**slots) for name, slots in values["things"].items()},
            "state": State(values["state"]),
        }
    )
