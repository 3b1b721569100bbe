"""A plan under way as the journal keeps it, and read back: enough to have the rest of it done by another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.manner import AS_USUAL, Manner, OfSteps
from llm_planner.plan.plan import Plan
from llm_planner.plan.report import constraint_json, step_json
from llm_planner.plan.report_reading import plan_from_json
from llm_planner.world.scene import Vector3


@dataclass(frozen=True)
class KeptPlan:
    """A plan with its steps as they were when it was noted, and how the person wants it to move."""

    plan: Plan
    manner: Manner = AS_USUAL


def plan_record(state: Execution) -> dict[str, Any]:
    """The plan of `state` as plain values, without what lessons have made of its steps."""
    plan = state.plan
    return {
        "command": plan.command,
        "program": plan.program,
        "constraints": list(map(constraint_json, plan.constraints)),
        "steps": list(map(step_json, plan.steps)),
        "complete": plan.complete,
        "manner": _manner_json(state.manner),
    }


def plan_from_record(values: Mapping[str, Any]) -> KeptPlan:
    """The plan that was noted; raises InputError where an older llm-planner noted less, or something else did."""
    try:
        plan = plan_from_json(values)
        return KeptPlan(
            Plan(plan.command, plan.program, plan.steps, bool(values["complete"]), plan.constraints),
            _manner(values["manner"]),
        )
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
            {str(step): _numbers(own) for step, own in values.get("step_quantities", {}).items()},
        ),
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(value) for name, value in values.items()}


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = map(float, values)
    return x, y, z
