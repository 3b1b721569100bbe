"""Edits of the motion of a plan: offsets of the step under way, and quantities of all motion or of single steps."""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.corrections.draft import EditError, changed_value, check_ahead
from llm_planner.corrections.edits import QUANTITIES, Adjust, Shift
from llm_planner.execution.execution_state import Execution
from llm_planner.language.correction_requests import Frame, Lifetime
from llm_planner.plans.manner import FARTHEST, Manner, moved_along
from llm_planner.plans.plan import Goal, PlanStep, StepStatus
from llm_planner.plans.prediction import predict
from llm_planner.scene.atoms import HELD
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.names import the
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, SceneObject, Vector3
from llm_planner.skills.tuning import shifted_things

SMALLEST_RISE = 0.005  # [m] vertical offset from which messages say up or down


def shifted(state: Execution, shift: Shift, scene: Scene) -> Execution:
    """Shift the target of the step under way, or of the next step.

    If the step under way has already grasped its object, the offset is for the next step. Raises EditError if the
    offset is too large, or if the placed object would miss its container or support.
    """
    step = _step_that_moves(state, scene)
    if step is None:
        raise EditError("nothing is left to do that could be moved to the side")
    offset = in_robot_frame(shift, state.viewpoint, _thing(step, scene))
    manner = state.manner.with_offset(offset, step.id if shift.lifetime is Lifetime.STEP else "")
    whole, most = math.hypot(*manner.offset_of(step.id)), FARTHEST[scene.robot_kind]
    if whole > most:
        raise EditError(
            f"that would be {100 * whole:.0f} cm beside where step {step.id}, {step}, is to be done; at most "
            f"{100 * most:.0f} cm can be corrected so: say where it is to go instead"
        )
    after = with_manner(state, manner)
    _check_effects(after, step, scene)
    return after


def adjusted(state: Execution, adjust: Adjust) -> Execution:
    """Change a quantity of all motion or of one step, clamped to its bounds.

    A change of all motion also changes the step under way if that step has its own value. Raises EditError if the
    quantity does not exist, or if no such step remains.
    """
    if adjust.quantity not in QUANTITIES:
        raise EditError(f"there is no {adjust.quantity!r} to change; there are: {', '.join(QUANTITIES)}")
    if adjust.step:
        check_ahead(adjust.step, state.plan.steps)
    manner, now = _changed(state.manner, adjust, adjust.step), step_under_way(state)
    if not adjust.step and now is not None and manner.is_special(adjust.quantity, now.id):
        manner = _changed(manner, adjust, now.id)
    return with_manner(state, manner)


def _changed(manner: Manner, adjust: Adjust, step_id: str) -> Manner:
    quantity = QUANTITIES[adjust.quantity]
    value = changed_value(manner.quantity(adjust.quantity, step_id), adjust)
    return manner.with_quantity(adjust.quantity, round(min(max(value, quantity.minimum), quantity.maximum), 4), step_id)


def with_manner(state: Execution, manner: Manner) -> Execution:
    """Set the manner of the execution; the goals of queued and running steps shift with their offsets."""
    run = state.run and replace(state.run, goals=_offset(state.run.goals, manner))
    queue = tuple(replace(task, goals=_offset(task.goals, manner)) for task in state.queue)
    return replace(state, manner=manner, run=run, queue=queue)


def _offset(goals: tuple[Goal, ...], manner: Manner) -> tuple[Goal, ...]:
    return tuple(replace(goal, offset=manner.offset_of(goal.step_id)) for goal in goals)


def step_under_way(state: Execution) -> PlanStep | None:
    """Return the step that runs, was interrupted, or comes next."""
    ahead = (step for step in state.plan.steps if step.status in (StepStatus.RUNNING, StepStatus.PENDING))
    return state.run.step if state.run else next(ahead, None)


def _step_that_moves(state: Execution, scene: Scene) -> PlanStep | None:
    step = step_under_way(state)
    if state.run is None or not state.interpreter.program.skills[state.run.step.skill].has_taken(scene.held):
        return step
    return next((later for later in state.plan.steps if later.status is StepStatus.PENDING), step)


def in_robot_frame(shift: Shift, viewpoint: Viewpoint, thing: SceneObject | None) -> Vector3:
    """Convert a shift to the robot's frame [m]; raise EditError for an object's frame without `thing`."""
    x, y, z = shift.offset
    match shift.frame:
        case Frame.ROBOT:
            return shift.offset
        case Frame.PERSON:
            (fx, fy), (lx, ly) = viewpoint.direction("top"), viewpoint.direction("left")
        case Frame.OBJECT:
            if thing is None:
                raise EditError("the step under way is about no object whose axes could be meant; say left or right")
            (fx, fy), (lx, ly) = _axes(thing)
    return x * fx + y * lx, x * fy + y * ly, z


def _axes(thing: SceneObject) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the first two axes of the object in the horizontal plane."""
    rows = rotation_matrix(thing.orientation)
    yaw = math.atan2(rows[1][0], rows[0][0])
    return (math.cos(yaw), math.sin(yaw)), (-math.sin(yaw), math.cos(yaw))


def _thing(step: PlanStep, scene: Scene) -> SceneObject | None:
    names = [scene.held, *(value for value in step.arguments.values() if isinstance(value, str))]
    return next((scene.find(name) for name in names if name in scene.names), None)


def _check_effects(state: Execution, step: PlanStep, scene: Scene) -> None:
    """Raise EditError if the placed object would no longer be in or on its target."""
    runs = state.run is not None and state.run.step.id == step.id
    queued = next((task.goals for task in state.queue if task.step.id == step.id), ())
    goals = state.run.goals if state.run and runs else queued
    carried = {goal.held_at_start for goal in goals if goal.atom.arguments[:1] == (HELD,)} | moved_along(goals)
    ends = shifted_things(predict(scene, goals), frozenset(carried), state.manner.offset_of(step.id))
    lost = [goal for goal in goals if goal.atom.predicate in ("in", "on") and not goal.holds(ends)]
    if lost:
        name, container = (str(word) for word in lost[0].words[:2])
        rise = state.manner.offset_of(step.id)[2]
        where = "to the side" if abs(rise) < SMALLEST_RISE else "up" if rise > 0 else "down"
        raise EditError(
            f"so far {where} {the(name)} would not be {lost[0].atom.predicate} {the(container)} any more; "
            "say less, or where it is to go instead"
        )
