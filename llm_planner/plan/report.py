"""What became of a command, as one value and as the documented JSON format (docs/json_format.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llm_planner.language.model import Usage
from llm_planner.plan.plan import Outcome, Plan, PlanStep
from llm_planner.plan.rehearsal import Rehearsal
from llm_planner.plan.run_log import Kept
from llm_planner.skills.contract import Argument
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.words import read_back
from llm_planner.world.building import Building, Room
from llm_planner.world.scene import Pose, Scene, SceneObject

FORMAT_VERSION = 2


@dataclass(frozen=True)
class Report:
    """One command from beginning to end.

    `plan` is None when there was none. `duration` [s] is simulated time from the first motion to the last; 0 when
    nothing moved. `confidence` is the model's, in [0, 1], or None when it was not asked or gives none. `rehearsal` is
    None when there was no plan to rehearse. `kept` says by how much each constraint was, empty where nothing ran.
    `usage` is what the model's answers cost, None where none was asked.
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
    kept: tuple[Kept, ...] = ()
    usage: Usage | None = None

    def to_json(self) -> dict[str, Any]:
        """The report as plain values; the keys are always all there."""
        plan = self.plan
        return {
            "version": FORMAT_VERSION,
            "command": self.command,
            "outcome": self.outcome.value,
            "message": self.message,
            "program": plan.program if plan else "",
            "steps": [] if plan is None else list(map(step_json, plan.steps)),
            "constraints": [] if plan is None else list(map(constraint_json, plan.constraints)),
            "kept": list(map(kept_json, self.kept)),
            "rehearsal": rehearsal_json(self.rehearsal),
            "scene_before": scene_json(self.scene_before),
            "scene_after": scene_json(self.scene_after),
            "duration": round(self.duration, 3),
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "usage": usage_json(self.usage),
        }


def usage_json(usage: Usage | None) -> dict[str, Any] | None:
    """What a model's answers cost, as plain values."""
    if usage is None:
        return None
    return {
        "requests": usage.requests,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round(usage.seconds, 3),
    }


def step_json(step: PlanStep) -> dict[str, Any]:
    """A step as plain values."""
    return {
        "id": step.id,
        "skill": step.skill,
        "arguments": {name: _argument(value) for name, value in step.arguments.items()},
        "line": step.line,
        "status": step.status.value,
        "message": step.message,
    }


def constraint_json(constraint: Constraint) -> dict[str, Any]:
    """A constraint as plain values; `plain` is the formula read back, `words` are the person's."""
    formula = constraint.formula
    return {
        "formula": str(formula), "words": constraint.words, "plain": read_back(formula), "goal": constraint.goal,
    }  # fmt: skip


def kept_json(kept: Kept) -> dict[str, Any]:
    """How a constraint fared in a run, as plain values."""
    margin = None if kept.margin is None else round(kept.margin, 4)
    return {"formula": str(kept.constraint.formula), "holds": kept.holds, "margin": margin, "unit": kept.unit}


def rehearsal_json(rehearsal: Rehearsal | None) -> dict[str, Any] | None:
    """A rehearsal as plain values; each trace is a list of letters, each letter a list of propositions."""
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
    """A scene as plain values: metres in the frame of the scene, orientations (x, y, z, w)."""
    if scene is None:
        return None
    return {
        "time": round(scene.time, 3),
        "held": scene.held,
        "robot": scene.robot and {**_pose(scene.robot), "room": scene.robot_room},
        "rooms": list(scene.building.names) if scene.building else [],
        "building": scene.building and building_json(scene.building),
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


def building_json(building: Building) -> dict[str, Any]:
    """A floor plan as plain values: areas as [x_min, x_max, y_min, y_max] and doors at [x, y], metres."""

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


def _argument(value: Argument) -> str | float | list[float]:
    if isinstance(value, tuple):
        return [round(part, 5) for part in value]
    return value
