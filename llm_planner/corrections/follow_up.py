"""Corrections of a plan that has just reached its goal: what they ask for becomes a command of its own.

They are read as if the last errand were still to be done, so that "no, the blue one", "not there, on the plate" or "a
bit to the left" refer to it. Only what they change or add is done.
"""

from __future__ import annotations

from dataclasses import replace

from llm_planner.corrections.building_errands import put_back
from llm_planner.corrections.draft import Draft, in_robot_frame
from llm_planner.corrections.edit_steps import program_line
from llm_planner.corrections.edits import (
    Adjust,
    Edit,
    Insert,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
    Undo,
    is_of_steps,
)
from llm_planner.corrections.handling import has_moved, laying, taking
from llm_planner.corrections.situation import Errand, Situation
from llm_planner.language.correction_requests import Intent, Request
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.scene.predicates import is_portable


def reopened(situation: Situation, held: str = "") -> Situation:
    """Return the situation of an ended plan with its last errand ahead once more, under new step ids.

    What the gripper `held` when the plan began is taken again first; where it lay before that is not known.
    """
    steps = situation.plan.steps
    last = situation.errands[-1] if steps else ()
    if held and not any(situation.skills[step.skill].fills_gripper for step in last):
        last = (PlanStep("", "pick", {"object": held}, 0), *last)
    number = max((int(step.id) for step in steps if step.id.isdigit()), default=0)
    again = tuple(
        replace(step, id=str(number + k), status=StepStatus.PENDING, message="") for k, step in enumerate(last, start=1)
    )
    plan = replace(situation.plan, steps=(*steps, *again))
    origins = {name: place for name, place in situation.origins.items() if name != held}
    return replace(situation, plan=plan, origins=origins, is_over=True)


def follow_up(edit: Edit, situation: Situation) -> str:
    """Return the program that does what an edit of a reopened plan asks for, "" if that is nothing to do.

    Raises:
        EditError: The edit refers to a step that there is not.
        UnclearError: It is not known where an object is to be put back.
    """
    again = situation.ahead
    draft = Draft.of_steps(situation.plan.steps, situation.skills)
    for operation in edit.operations:
        for one in _of_steps(operation, situation):
            draft = draft.adjusted(one) if isinstance(one, Adjust) else draft.changed(one)  # type: ignore[arg-type]
    left = {step.id: step for step in draft.ahead}
    kept = tuple(left[step.id] for step in again if step.id in left)
    if kept in ((), again):
        steps = tuple(step for step in draft.ahead if step not in kept)
    else:
        back = _puts_back(again, kept, situation)
        steps = (*(PlanStep("", one.skill, dict(one.arguments), 0) for one in back), *draft.ahead)
    return "".join(f"{program_line(step, situation.skills[step.skill])}\n" for step in steps)


def _of_steps(operation: Operation, situation: Situation) -> tuple[Operation, ...]:
    """Return the operation as operations on steps; none if it only changes how the robot moves."""
    last = situation.ahead
    puts_down = any(situation.skills[step.skill].puts_down for step in last)
    match operation:
        case Undo():
            return put_back(Request(Intent.PUT_BACK), situation)
        case Shift() if puts_down and situation.scene.building is None and situation.subject(last):
            thing = situation.scene.find(situation.subject(last))
            x, y, _ = thing.position
            dx, dy, _ = in_robot_frame(operation, situation.viewpoint, thing)
            place = (round(x + dx, 3), round(y + dy, 3), 0.0)
            now = last[0].id
            return (*taking(thing.name, situation, now), Insert("place_at", {"place": place}, now))
        case Adjust() if puts_down and is_of_steps(operation):
            return (operation,)  # what was pushed or turned would be so once more
        case Rebind() | Insert() | Remove() | Move() | Replace():
            return (operation,)
        case _:
            return ()


def _puts_back(before: Errand, after: Errand, situation: Situation) -> tuple[Insert, ...]:
    """Return what puts the object of the errand back where another is to be taken instead."""
    old, scene = situation.subject(before), situation.scene
    if old in ("", situation.subject(after)) or not is_portable(scene.find(old)):
        return ()
    if scene.held != old and not has_moved(old, situation):
        return ()
    taken = () if scene.held == old else taking(old, situation, "")
    return *taken, *laying(old, situation, "")
