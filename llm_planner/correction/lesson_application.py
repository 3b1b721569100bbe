"""Lessons made into edits of the plan under way, checked like any other; what does not pass is left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from llm_planner.correction.memory.retrieval import Recollection, Use
from llm_planner.errors import LlmPlannerError
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import Adjust, Edit
from llm_planner.plan.events import Command
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.lessons_in_motion import with_lesson

Refused = tuple[tuple[Use, str], ...]  # each with the reason, for a person


@dataclass(frozen=True)
class Application:
    """The execution with the lessons of `uses` in force, by `edit` where that changed the plan, and those `refused`."""

    state: Execution
    commands: tuple[Command, ...] = ()
    edit: Edit | None = None
    uses: tuple[Use, ...] = ()
    refused: Refused = ()


def applied_to_plan(state: Execution, found: Recollection) -> Application:
    """With all that is to hold from now on, as one edit."""
    refused: Refused = ()
    while (edit := found.edit(state.version)).operations:
        try:
            result = edited(state, edit)
        except LlmPlannerError:
            use, reason = _refused(state, found)
            refused, found = (*refused, (use, reason)), _without(found, use)
        else:
            return Application(result.state, result.commands, edit, _of_plan(found), refused)
    return Application(state, refused=refused)


def _of_plan(found: Recollection) -> tuple[Use, ...]:
    return tuple(use for use in found.uses if not use.in_motion)


def _without(found: Recollection, use: Use) -> Recollection:
    return replace(found, uses=tuple(other for other in found.uses if other is not use))


def _refused(state: Execution, found: Recollection) -> tuple[Use, str]:
    """The first use that cannot be made by itself, else the last; and why not."""
    for use in _of_plan(found):
        if reason := _reason(state, replace(found, uses=(use,)).edit(state.version)):
            return use, reason
    return _of_plan(found)[-1], _reason(state, found.edit(state.version))


def _reason(state: Execution, edit: Edit) -> str:
    try:
        edited(state, edit)
    except LlmPlannerError as error:
        return str(error)
    return ""


def applied_to_step(state: Execution, uses: Iterable[Use]) -> Application:
    """With all that is to hold of the motion of a step."""
    done = Application(state)
    for use in uses:
        try:
            done = replace(done, state=with_lesson(done.state, use.operations), uses=(*done.uses, use))
        except LlmPlannerError as error:
            if all(isinstance(one, Adjust) for one in use.operations):  # it is at its limit already
                continue
            done = replace(done, refused=(*done.refused, (use, str(error))))
    return done
