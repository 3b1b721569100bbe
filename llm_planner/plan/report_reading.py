"""A plan and its scene, read back from the documented JSON format (docs/json_format.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.plan.plan import Plan, PlanStep, StepStatus
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.building import Building, Door, Room
from llm_planner.world.places import Rectangle
from llm_planner.world.scene import Pose, Quaternion, Scene, SceneObject, Vector3

T = TypeVar("T")


@dataclass(frozen=True)
class ReadPlan:
    """A plan, and the scene that it was made for."""

    plan: Plan
    scene: Scene


def read_plan(path: Path) -> ReadPlan:
    """What `llm-planner plan --json` has printed into the file; raises InputError that says what is wrong with it."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; write one with: llm-planner plan ... --json"
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}; write one with: llm-planner plan ... --json > {path}") from error
    if not isinstance(values, dict) or not values.get("program") or not values.get("scene_before"):
        raise InputError(
            f"{path} holds no plan with a program and a scene; write one with: llm-planner plan ... --json"
        )
    try:
        return ReadPlan(plan_from_json(values), scene_from_json(values["scene_before"]))
    except (KeyError, TypeError, ValueError, LlmPlannerError) as error:
        raise InputError(
            f"{path} is no plan as `llm-planner plan --json` prints it: {type(error).__name__}: {error}"
        ) from error


def plan_from_json(values: Mapping[str, Any]) -> Plan:
    """Raises KeyError, TypeError, ValueError or InputError for what is none."""
    steps = _each(values["steps"], lambda row: PlanStep(
        str(row["id"]), str(row["skill"]), {name: _argument(value) for name, value in row["arguments"].items()},
        int(row["line"]), StepStatus(row["status"]), str(row["message"]),
    ))  # fmt: skip
    rules = _each(values["constraints"], lambda row: Constraint(parse(row["formula"]), row["words"], bool(row["goal"])))
    return Plan(str(values["command"]), str(values["program"]), steps, constraints=rules)


def scene_from_json(values: Mapping[str, Any]) -> Scene:
    """Raises as `plan_from_json`."""
    objects = _each(values["objects"], lambda row: SceneObject(
        str(row["name"]), str(row["kind"]), str(row["color"]), *_pose(row), _vector(row["size"]),
        float(row.get("state", 0.0)),
    ))  # fmt: skip
    robot = Pose(*_pose(values["robot"])) if values["robot"] else None
    building = _building(values["building"]) if values.get("building") else None
    return Scene(float(values["time"]), objects, str(values["held"]), robot, building=building)


def _each(rows: Sequence[Any], made: Callable[[Any], T]) -> tuple[T, ...]:
    return tuple(map(made, rows))


def _building(values: Mapping[str, Any]) -> Building:
    rooms = _each(values["rooms"], lambda row: Room(str(row["name"]), Rectangle(*map(float, row["area"]))))
    doors = _each(
        values["doors"], lambda row: Door((str(row["rooms"][0]), str(row["rooms"][1])), _point(row["position"]))
    )
    return Building(rooms, doors)


def _argument(value: Any) -> str | float | Vector3:
    return _vector(value) if isinstance(value, list) else value if isinstance(value, str) else float(value)


def _pose(row: Mapping[str, Any]) -> tuple[Vector3, Quaternion]:
    x, y, z, w = map(float, row["orientation"])
    return _vector(row["position"]), (x, y, z, w)


def _point(values: Sequence[float]) -> tuple[float, float]:
    x, y = map(float, values)
    return x, y


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = map(float, values)
    return x, y, z
