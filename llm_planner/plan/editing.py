"""Edits a plan while it runs: on a copy, checked as a new plan would be, and only then in its place.

What acts on motion alone is changed in motion; everything else holds the robot first. What does not pass leaves the
plan as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from llm_planner.errors import LlmPlannerError
from llm_planner.plan.decoding.search import Limits
from llm_planner.plan.decoding.task import History
from llm_planner.plan.difference import difference
from llm_planner.plan.draft import EditError, StaleEditError
from llm_planner.plan.edit_goals import without_outrun_goals
from llm_planner.plan.edit_motion import adjusted, shifted
from llm_planner.plan.edit_rules import with_rule, without_rule
from llm_planner.plan.edit_steps import check_not_taken, draft_of, with_steps
from llm_planner.plan.edits import (
    AddRule,
    Adjust,
    Cancel,
    Edit,
    Hold,
    Insert,
    LiftRule,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Resume,
    Shift,
    Undo,
)
from llm_planner.plan.events import Command, EndReason, Event, PauseRequested, ResumeRequested, StopRequested
from llm_planner.plan.execution import advance
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.rehearsal import Advice, rehearse
from llm_planner.plan.repair import Remainder, plan_remainder
from llm_planner.plan.undoing import undone
from llm_planner.world.scene import Scene

MOST_UNDONE = 20  # edits in a row that can be taken back
EFFORT = Limits(seconds=1.0)  # to find another way under a new rule: the robot holds meanwhile


@dataclass(frozen=True)
class Edited:
    """The state after an edit, what is to be done at once, and what changed, for a person."""

    state: Execution
    commands: tuple[Command, ...] = ()
    difference: tuple[str, ...] = ()


def edited(state: Execution, edit: Edit, confirmed: bool = False) -> Edited:
    """The execution with `edit` in force. `confirmed`: the person has said yes to the lifting of a rule.

    Raises StaleEditError for one that was made for another version of the plan or for what has been done by now,
    EditError for one that cannot be made; `state` then holds as it is.
    """
    if state.phase is Phase.ENDED or state.scene is None:
        raise EditError("no plan is running that could be changed; say it as a command")
    reflex = _reflex(state, edit)
    if reflex is not None:
        return reflex
    if edit.version != state.version:
        raise StaleEditError(f"the plan is at version {state.version} now; the edit was made for {edit.version}")
    held, commands = _at_rest(state, edit)
    after = _applied(held, edit, confirmed)
    undoes = any(isinstance(one, Undo) for one in edit.operations)
    after = replace(after, version=state.version + 1, before=after.before if undoes else _kept(held))
    changes = difference(held, after)
    if not changes:
        raise EditError("that changes nothing: it is so already, or at its limit")
    waits = held is state or state.phase is Phase.PAUSED
    for event in _then(edit, waits):
        after, more = advance(after, event)
        commands = (*commands, *more)
    return Edited(after, commands, changes)


def _then(edit: Edit, waits: bool) -> tuple[Event, ...]:
    """What is to be done besides, and after it: "slower, and wait", "go on, but slower"; else as before."""
    if any(isinstance(one, Hold) for one in edit.operations):
        return (PauseRequested(),)
    resumes = any(isinstance(one, Resume) for one in edit.operations)
    return (ResumeRequested(),) if resumes or not waits else ()


def _reflex(state: Execution, edit: Edit) -> Edited | None:
    """What acts at once, whatever version of the plan it was meant for."""
    match edit.operations:
        case (Hold(),):
            return Edited(*advance(state, PauseRequested()))
        case (Resume(),):
            return Edited(*advance(state, ResumeRequested()))
        case (Cancel(),):
            return Edited(*advance(state, StopRequested()))
        case _:
            return None


def acts_in_motion(edit: Edit) -> bool:
    """Whether it is made while the robot moves; for everything else it is held."""
    return all(isinstance(one, Shift) or (isinstance(one, Adjust) and one.is_of_motion) for one in edit.operations)


def _at_rest(state: Execution, edit: Edit) -> tuple[Execution, tuple[Command, ...]]:
    return (state, ()) if acts_in_motion(edit) else advance(state, PauseRequested())


def _kept(state: Execution) -> Execution:
    """As something to go back to, and what came before it, up to a number of edits."""
    chain: list[Execution] = []
    link: Execution | None = state
    while link is not None and len(chain) < MOST_UNDONE:
        chain.append(link)
        link = link.before
    kept: Execution | None = None
    for item in reversed(chain):
        kept = replace(item, before=kept)
    assert kept is not None
    return kept


def _applied(state: Execution, edit: Edit, confirmed: bool) -> Execution:
    """All operations, the first ones first, and the whole looked at; raises EditError."""
    assert state.scene is not None
    scene, after = state.scene, state
    if any(isinstance(one, Undo) for one in edit.operations):
        if len(edit.operations) > 1:
            raise EditError("to undo is one thing, what else is to be done another: say them one after the other")
        return _back(state, scene)
    for operation in edit.operations:
        after = _with(after, operation, scene, confirmed)
    steps = [one for one in edit.operations if _is_of_steps(one)]
    if steps:
        after = without_outrun_goals(_with_steps(after, steps, scene), lambda ahead: bool(_blocked(ahead, scene)))
    return _rehearsed(after, scene) if after.watch.watched and (steps or after.watch is not state.watch) else after


def _back(state: Execution, scene: Scene) -> Execution:
    after = undone(state, scene)
    assert state.before is not None
    after = replace(after, last_id=max(after.last_id, state.last_id), before=state.before.before)
    return _rehearsed(after, scene) if after.watch.watched else after


def _is_of_steps(operation: Operation) -> bool:
    return isinstance(operation, (Rebind, Insert, Remove, Move, Replace)) or (
        isinstance(operation, Adjust) and not operation.is_of_motion
    )


def _with(state: Execution, operation: Operation, scene: Scene, confirmed: bool) -> Execution:
    """What is not about steps; those are changed all together."""
    match operation:
        case Shift():
            return shifted(state, operation, scene)
        case Adjust(is_of_motion=True):
            return adjusted(state, operation)
        case AddRule():
            return with_rule(state, operation, scene)
        case LiftRule():
            after = without_rule(state, operation)
            if not confirmed:
                raise EditError("a rule is lifted only when you confirm it: say yes to that")
            return after
        case Hold() | Resume():
            return state
        case _ if _is_of_steps(operation):
            return state
        case _:
            raise EditError(f"{type(operation).__name__} is no change of a plan")


def _with_steps(state: Execution, operations: list[Operation], scene: Scene) -> Execution:
    draft = draft_of(state)
    for operation in operations:
        if isinstance(operation, (Rebind, Replace)):
            check_not_taken(state, operation.step, scene)
        draft = draft.adjusted(operation) if isinstance(operation, Adjust) else draft.changed(operation)  # type: ignore[arg-type]
    return with_steps(state, draft, scene)


def _rehearsed(state: Execution, scene: Scene) -> Execution:
    """The same where its rules are kept on the way that it will surely take; else another way to the same, if there is
    one. Raises EditError."""
    reasons = _blocked(state, scene)
    if not reasons:
        return state
    left = Remainder(state.plan, EndReason.REPLAN, state.wanted, History(state.watch.trace, state.watch.origins))
    skills = tuple(state.interpreter.program.skills.values())
    try:
        planned = plan_remainder(left, scene, skills, state.viewpoint, EFFORT)
    except LlmPlannerError as error:
        raise EditError(f"that cannot be kept with what is left to do: {reasons} {error}") from error
    draft = draft_of(state)
    number = draft.last_id
    ahead = tuple(replace(step, id=str(number + k)) for k, step in enumerate(planned.plan.steps, start=1))
    after = with_steps(state, replace(draft, ahead=ahead, last_id=number + len(ahead)), scene)
    again = _blocked(after, scene)
    if again:
        raise EditError(f"that cannot be kept with what is left to do: {again}")
    return after


def _blocked(state: Execution, scene: Scene) -> str:
    """Why the rest of the plan breaks a rule; "" where it does not."""
    rehearsal = rehearse(_ready(state), scene, max_scenes=0)
    return " ".join(map(str, rehearsal.findings)) if rehearsal.verdict is Advice.BLOCK else ""


def _ready(state: Execution) -> Execution:
    """As it will be when it goes on."""
    run = state.run
    queue = (replace(run.task, goals=run.goals), *state.queue) if run else state.queue
    return replace(state, run=None, queue=queue, phase=Phase.READY)
