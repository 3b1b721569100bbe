"""Report of a command, in memory and in the documented JSON format (docs/reference/json_format.md).

The module also reads plans and scenes back from that format, and the plan records of the journal, from which another
process can finish a plan. `foretold` lists what each step of a plan is expected to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution_state import Execution
from llm_planner.execution.watch import ConstraintResult
from llm_planner.language.model import Usage
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.rehearsal import Rehearsal
from llm_planner.plans.manner import Manner, OfSteps
from llm_planner.plans.plan import Outcome, Plan, PlanStep, StepStatus, goals_of, in_base_words
from llm_planner.plans.trace import forecasts_of
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Rectangle, Viewpoint
from llm_planner.scene.scene import Building, Door, Pose, Quaternion, Room, Scene, SceneObject, Vector3

FORMAT_VERSION = 2


@dataclass(frozen=True)
class Report:
    """One command from beginning to end; `plan`, `rehearsal` and `usage` are None where there was none.

    `duration` is the simulated time from the first to the last motion [s]; `confidence` is the model's, in [0, 1], None
    if it gives none; `kept` has the result of each constraint, empty if nothing ran.
    """

    command: str
    outcome: Outcome
    message: str
    plan: Plan | None = None
    scene_before: Scene | None = None
    scene_after: Scene | None = None
    duration: float = 0.0
    confidence: float | None = None
    rehearsal: Rehearsal | None = None
    kept: tuple[ConstraintResult, ...] = ()
    usage: Usage | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values; all keys are always present."""
        plan = self.plan
        return {
            "version": FORMAT_VERSION,
            "command": self.command,
            "outcome": self.outcome.value,
            "message": self.message,
            "program": plan.program if plan else "",
            "steps": list(map(step_json, plan.steps)) if plan else [],
            "constraints": list(map(constraint_json, plan.constraints)) if plan else [],
            "kept": list(map(kept_json, self.kept)),
            "rehearsal": rehearsal_json(self.rehearsal),
            "scene_before": scene_json(self.scene_before),
            "scene_after": scene_json(self.scene_after),
            "duration": round(self.duration, 3),
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "usage": self.usage and {**asdict(self.usage), "seconds": round(self.usage.seconds, 3)},
        }


def step_json(step: PlanStep) -> dict[str, Any]:
    """Return a step as plain values."""
    return {
        "id": step.id,
        "skill": step.skill,
        "arguments": {
            name: [round(part, 5) for part in value] if isinstance(value, tuple) else value
            for name, value in step.arguments.items()
        },
        "line": step.line,
        "status": step.status.value,
        "message": step.message,
    }


def constraint_json(constraint: Constraint) -> dict[str, Any]:
    """Return a constraint as plain values; `plain` is the formula in plain words, `words` are the person's."""
    plain = read_back(constraint.formula)
    return {
        "formula": str(constraint.formula), "words": constraint.words, "plain": plain, "goal": constraint.goal,
    }  # fmt: skip


def kept_json(kept: ConstraintResult) -> dict[str, Any]:
    """Return the result of a constraint as plain values."""
    margin = None if kept.margin is None else round(kept.margin, 4)
    return {"formula": str(kept.constraint.formula), "holds": kept.holds, "margin": margin, "unit": kept.unit}


def rehearsal_json(rehearsal: Rehearsal | None) -> dict[str, Any] | None:
    """Return a rehearsal as plain values; a trace is a list of letters, a letter a list of propositions."""
    if rehearsal is None:
        return None
    return {
        "verdict": rehearsal.verdict.value,
        "reasons": list(rehearsal.reasons),
        "branches": rehearsal.branches,
        "complete": rehearsal.complete,
        "traces": [[sorted(letter) for letter in trace] for trace in rehearsal.traces],
        "seconds": round(rehearsal.seconds, 3),
    }


def scene_json(scene: Scene | None) -> dict[str, Any] | None:
    """Return a scene as plain values: positions [m] in the scene's frame, orientations (x, y, z, w)."""
    if scene is None:
        return None
    return {
        "time": round(scene.time, 3),
        "held": scene.held,
        "robot": scene.robot and {**_pose(scene.robot), "room": scene.robot_room},
        "rooms": list(scene.building.names) if scene.building else [],
        "building": scene.building and _building_json(scene.building),
        "objects": [
            {
                "name": item.name,
                "kind": item.kind,
                "color": item.color,
                **_pose(item),
                "size": [round(value, 5) for value in item.size],
                "state": round(item.state, 4),
            }
            for item in scene.objects
        ],
    }


def _building_json(building: Building) -> dict[str, Any]:
    """Return a floor plan as plain values: areas [x_min, x_max, y_min, y_max] and doors [x, y] in metres."""

    def area(room: Room) -> list[float]:
        return [round(value, 4) for value in (room.area.x_min, room.area.x_max, room.area.y_min, room.area.y_max)]

    return {
        "rooms": [{"name": room.name, "area": area(room)} for room in building.rooms],
        "doors": [
            {"rooms": list(door.rooms), "position": [round(value, 4) for value in door.position]}
            for door in building.doors
        ],
    }


def _pose(placed: Pose | SceneObject) -> dict[str, Any]:
    return {
        "position": [round(value, 5) for value in placed.position],
        "orientation": [round(value, 6) for value in placed.orientation],
    }


def foretold(
    steps: Sequence[PlanStep],
    skills: Iterable[Signature],
    scene: Scene,
    viewpoint: Viewpoint,
    origins: Mapping[str, Vector3] | None = None,
) -> list[dict[str, Any]]:
    """Return what each step should bring about, up to the first one that cannot be foreseen.

    Args:
        steps: Steps to come, from `scene` on.
        skills: Skills that they may call.
        scene: Scene before the first step.
        viewpoint: Viewpoint of the arguments.
        origins: Position of each object when it last lay on its own [m]; by default that of `scene`.

    Returns:
        For each step `id`, `call`, `effects` (sentences), `seconds` and `metres` (approximate duration and distance),
        and `doubt`: why the motion is not foreseen, "" if it is.
    """
    known = {skill.name: skill for skill in skills}
    lay = {item.name: item.position for item in scene.objects} if origins is None else origins
    told = []
    for step, foreseen in forecasts_of(steps, known, scene, lay, viewpoint):
        skill = known[step.skill]
        goals = goals_of(skill, step.id, in_base_words(skill, step.arguments, viewpoint), foreseen.before, lay)
        told.append(
            {
                "id": step.id,
                "call": str(step),
                "effects": [goal.sentence(viewpoint) for goal in goals],
                "seconds": round(foreseen.seconds, 1),
                "metres": round(foreseen.way.metres, 2),
                "doubt": foreseen.doubt,
            }
        )
    return told


def forecast_json(plan_id: str, rehearsal: Rehearsal, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a rehearsal and what its plan's steps should bring about as plain values."""
    return {"plan_id": plan_id, "rehearsal": rehearsal_json(rehearsal), "steps": list(steps)}


def read_plan(path: Path) -> tuple[Plan, Scene]:
    """Read a plan and its scene from a file that `llm-planner plan --json` wrote; raise InputError if it is invalid."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; write one with: llm-planner plan ... --json"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{path} is not JSON: {error}; write one with: llm-planner plan ... --json > {path}"
        ) from error
    if not isinstance(values, dict) or not values.get("program") or not values.get("scene_before"):
        raise InputError(
            f"{path} holds no plan with a program and a scene; write one with: llm-planner plan ... --json"
        )
    try:
        return plan_from_json(values), scene_from_json(values["scene_before"])
    except (KeyError, TypeError, ValueError, LlmPlannerError) as error:
        raise InputError(
            f"{path} is not a plan as `llm-planner plan --json` prints it: {type(error).__name__}: {error}"
        ) from error


def plan_from_json(values: Mapping[str, Any]) -> Plan:
    """Read a plan from plain values; raise KeyError, TypeError, ValueError or InputError if they are invalid."""
    steps = [
        PlanStep(str(row["id"]), str(row["skill"]),
                 {name: _read_argument(value) for name, value in row["arguments"].items()},
                 int(row["line"]), StepStatus(row["status"]), str(row["message"]))
        for row in values["steps"]
    ]  # fmt: skip
    rules = [Constraint(parse(row["formula"]), row["words"], bool(row["goal"])) for row in values["constraints"]]
    return Plan(str(values["command"]), str(values["program"]), tuple(steps), constraints=tuple(rules))


def scene_from_json(values: Mapping[str, Any]) -> Scene:
    """Read a scene from plain values; raises as `plan_from_json`."""
    objects = [
        SceneObject(str(row["name"]), str(row["kind"]), str(row["color"]), *_read_pose(row), _vector(row["size"]),
                    float(row.get("state", 0.0)))
        for row in values["objects"]
    ]  # fmt: skip
    robot = Pose(*_read_pose(values["robot"])) if values["robot"] else None
    building = _building(values["building"]) if values.get("building") else None
    return Scene(float(values["time"]), tuple(objects), str(values["held"]), robot, building=building)


def _building(values: Mapping[str, Any]) -> Building:
    rooms = [Room(str(row["name"]), Rectangle(*map(float, row["area"]))) for row in values["rooms"]]
    doors = []
    for row in values["doors"]:
        (one, other), (x, y) = row["rooms"], row["position"]
        doors.append(Door((str(one), str(other)), (float(x), float(y))))
    return Building(tuple(rooms), tuple(doors))


def _read_argument(value: Any) -> str | float | Vector3:
    return _vector(value) if isinstance(value, list) else value if isinstance(value, str) else float(value)


def _read_pose(row: Mapping[str, Any]) -> tuple[Vector3, Quaternion]:
    x, y, z, w = map(float, row["orientation"])
    return _vector(row["position"]), (x, y, z, w)


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = map(float, values)
    return x, y, z


def plan_record(state: Execution) -> dict[str, Any]:
    """Return the plan of `state` as plain values, without adjustments from lessons."""
    plan = state.plan
    return {
        "command": plan.command,
        "program": plan.program,
        "constraints": list(map(constraint_json, plan.constraints)),
        "steps": list(map(step_json, plan.steps)),
        "complete": plan.complete,
        "manner": _manner_json(state.manner),
    }


def plan_from_record(values: Mapping[str, Any]) -> tuple[Plan, Manner]:
    """Read a recorded plan, with the status of its steps at that time, and its manner.

    Raises InputError if the record is incomplete or invalid.
    """
    try:
        return replace(plan_from_json(values), complete=bool(values["complete"])), _manner(values["manner"])
    except (AttributeError, KeyError, TypeError, ValueError, LlmPlannerError) as error:
        raise InputError(f"the journal does not tell what was left to do ({type(error).__name__}: {error})") from error


def _manner_json(manner: Manner) -> dict[str, Any]:
    return {
        "speed": manner.speed,
        "clearance": manner.clearance,
        "height": manner.height,
        "offset": list(manner.offset),
        "step_offsets": {step: list(offset) for step, offset in manner.said.offsets.items()},
        "step_quantities": {step: dict(values) for step, values in manner.said.quantities.items()},
    }


def _manner(values: Mapping[str, Any]) -> Manner:
    return Manner(
        float(values["speed"]),
        float(values["clearance"]),
        float(values["height"]),
        _vector(values["offset"]),
        OfSteps(
            {str(step): _vector(offset) for step, offset in values["step_offsets"].items()},
            {
                str(step): {str(name): float(value) for name, value in own.items()}
                for step, own in values.get("step_quantities", {}).items()
            },
        ),
    )
