"""Editing of a running plan: an edit is applied to a copy, which is checked like a new plan before it takes effect.

Edits that change only motion are applied while the robot moves; all other edits pause it first. If an edit fails a
check, the plan stays unchanged. The module also drops goals that a correction makes obsolete, describes the difference
between two versions of a plan, and applies lessons to the motion of single steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from llm_planner.corrections.draft import (
    EditError,
    StaleEditError,
    adjusted,
    shifted,
    with_manner,
    with_rule,
    without_constraints,
    without_rule,
)
from llm_planner.corrections.edit_steps import check_not_taken, draft_of, undone, with_steps
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Cancel,
    Edit,
    Hold,
    LiftRule,
    Operation,
    Rebind,
    Replace,
    Resume,
    Shift,
    Undo,
    is_of_motion,
    is_of_steps,
)
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import (
    Command,
    EndReason,
    Event,
    Execution,
    PauseRequested,
    Phase,
    ResumeRequested,
    StopRequested,
)
from llm_planner.language.correction_requests import MOTION_QUANTITIES
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.planned import Remainder
from llm_planner.planning.rehearsal import Advice, rehearse
from llm_planner.planning.repair import plan_remainder
from llm_planner.planning.search.search import Limits
from llm_planner.planning.search.task import History
from llm_planner.plans.manner import Manner
from llm_planner.plans.plan import PlanStep
from llm_planner.scene.scene import Scene
from llm_planner.skills.tuning import NOWHERE, added


def difference(before: Execution, after: Execution) -> tuple[str, ...]:
    """Describe the changes from `before` to `after`, one line each, steps first.

    Lines start with + for additions, - for removals and ~ for changes.
    """
    return (*_steps(before.plan.steps, after.plan.steps), *_manner(before.manner, after.manner), *_rules(before, after))


def _steps(before: tuple[PlanStep, ...], after: tuple[PlanStep, ...]) -> Iterator[str]:
    old, new = ({step.id: step for step in steps} for steps in (before, after))
    for step in before:
        if step.id not in new:
            yield f"- {step.id} {step}"
    kept = [step.id for step in before if step.id in new]
    order = [step.id for step in after if step.id in old]
    for step in after:
        if step.id not in old:
            following = after[after.index(step) + 1 :][:1]
            yield f"+ {step.id} {step}{''.join(f' before {one.id}' for one in following)}"
        elif str(old[step.id]) != str(step):
            yield f"~ {step.id} {old[step.id]} -> {step}"
    if kept != order:
        yield f"~ order: {', '.join(order)}"


def _manner(before: Manner, after: Manner) -> Iterator[str]:
    for name, quantity in MOTION_QUANTITIES.items():
        own = {step for manner in (before, after) for step in manner.special_steps if manner.is_special(name, step)}
        changed: dict[tuple[float, float], list[str]] = {}
        for step in ("", *sorted(own)):
            changed.setdefault((before.quantity(name, step), after.quantity(name, step)), []).append(step)
        for (old, new), steps in changed.items():
            *others, last = steps
            where = f", in steps {', '.join(others)} and {last}" if others else f", in step {last}"
            if old != new:
                yield f"~ {name} {old:g} -> {new:g} {quantity.unit}{'' if '' in steps else where}"
    for step in sorted({*before.shifted_steps, *after.shifted_steps}):
        offset = after.own_offset(step)
        if before.own_offset(step) != offset:
            yield f"~ step {step} is done {_metres(offset)} from where it would be"
    if before.offset != after.offset:
        yield f"~ everything is done {_metres(after.offset)} from where it would be"


def _metres(offset: tuple[float, float, float]) -> str:
    return f"({', '.join(f'{value:.3f}' for value in offset)}) m"


def _rules(before: Execution, after: Execution) -> Iterator[str]:
    for sign, one, other in (("-", before, after), ("+", after, before)):
        known = {constraint.formula for constraint in other.plan.constraints}
        for constraint in one.plan.constraints:
            if constraint.formula not in known:
                kind = "goal" if constraint.goal else "rule"
                yield f"{sign} {kind}: {constraint.words} ({read_back(constraint.formula)})"


MOST_UNDONE = 20  # consecutive edits that can be undone
EFFORT = Limits(seconds=1.0)  # for replanning under a new rule while the robot pauses


@dataclass(frozen=True)
class Edited:
    """Execution after an edit, the commands to carry out at once, and what changed, as text for a person."""

    state: Execution
    commands: tuple[Command, ...] = ()
    difference: tuple[str, ...] = ()


def edited(state: Execution, edit: Edit, confirmed: bool = False) -> Edited:
    """Apply `edit` to the execution; `confirmed` means that the person has agreed to lift a rule.

    Raises:
        StaleEditError: The edit was made for another version of the plan, or for a step that is done by now.
        EditError: The edit cannot be made.
    """
    if state.phase is Phase.ENDED or state.scene is None:
        raise EditError("no plan is running that could be changed; say it as a command")
    reflex = _reflex(state, edit)
    if reflex is not None:
        return reflex
    if edit.version != state.version:
        raise StaleEditError(f"the plan is at version {state.version} now; the edit was made for {edit.version}")
    held, commands = (state, ()) if acts_in_motion(edit) else advance(state, PauseRequested())
    after = _applied(held, edit, confirmed)
    undoes = any(isinstance(one, Undo) for one in edit.operations)
    after = replace(after, version=state.version + 1, before=after.before if undoes else _kept(held))
    changes = difference(held, after)
    if not changes:
        raise EditError("that changes nothing: it is so already, or at its limit")
    then: Event | None = None  # "slower, and wait" pauses, "go on, but slower" resumes
    if any(isinstance(one, Hold) for one in edit.operations):
        then = PauseRequested()
    elif any(isinstance(one, Resume) for one in edit.operations) or not (held is state or state.phase is Phase.PAUSED):
        then = ResumeRequested()
    after, more = advance(after, then) if then else (after, ())
    return Edited(after, (*commands, *more), changes)


def _reflex(state: Execution, edit: Edit) -> Edited | None:
    """Apply an edit that acts at once, for any version of the plan; return None for other edits."""
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
    """Whether the edit is made while the robot moves; for other edits the robot pauses."""
    return all(map(is_of_motion, edit.operations))


def _kept(state: Execution) -> Execution:
    """Return the execution as a state to undo to, with at most `MOST_UNDONE` states in its history."""
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
    """Apply all operations in order and check the result; raise EditError if it fails."""
    assert state.scene is not None
    scene, after = state.scene, state
    if any(isinstance(one, Undo) for one in edit.operations):
        if len(edit.operations) > 1:
            raise EditError("to undo is one thing, what else is to be done another: say them one after the other")
        after = undone(state, scene)
        assert state.before is not None
        after = replace(after, last_id=max(after.last_id, state.last_id), before=state.before.before)
        return _rehearsed(after, scene) if after.watch.watched else after
    for operation in edit.operations:
        after = _with(after, operation, scene, confirmed)
    steps = [one for one in edit.operations if is_of_steps(one)]
    if steps:
        after = _without_outrun_goals(_with_steps(after, steps, scene), scene)
    return _rehearsed(after, scene) if after.watch.watched and (steps or after.watch is not state.watch) else after


def _with(state: Execution, operation: Operation, scene: Scene, confirmed: bool) -> Execution:
    """Apply an operation that is not about steps; `_with_steps` applies those together."""
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
        case _ if is_of_steps(operation):
            return state
        case _:
            raise EditError(f"{type(operation).__name__} does not change a plan")


def _with_steps(state: Execution, operations: list[Operation], scene: Scene) -> Execution:
    draft = draft_of(state)
    for operation in operations:
        if isinstance(operation, (Rebind, Replace)):
            check_not_taken(state, operation.step, scene)
        draft = draft.adjusted(operation) if isinstance(operation, Adjust) else draft.changed(operation)  # type: ignore[arg-type]
    return with_steps(state, draft, scene)


def _without_outrun_goals(state: Execution, scene: Scene) -> Execution:
    """Drop the goals that the remaining steps no longer reach because of a correction.

    After "no, the lab", for example, the goal to have the parcel in the kitchen is obsolete. Rules are never dropped.
    The execution stays the same if its plan reaches all goals, or would be refused even without them.
    """
    goals = [one for one in state.plan.constraints if one.goal]
    if not goals or not _blocked(state, scene) or _blocked(without_constraints(state, goals), scene):
        return state
    alone = {goal: without_constraints(state, [other for other in goals if other is not goal]) for goal in goals}
    after = without_constraints(state, [goal for goal in goals if _blocked(alone[goal], scene)])
    return without_constraints(state, goals) if _blocked(after, scene) else after


def _rehearsed(state: Execution, scene: Scene) -> Execution:
    """Return the execution if it keeps the rules, else with a replanned rest; raise EditError if no plan does."""
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
    """Return why the rest of the plan breaks a rule, "" if it does not."""
    run = state.run  # as the execution will be when it resumes
    queue = (replace(run.task, goals=run.goals), *state.queue) if run else state.queue
    rehearsal = rehearse(replace(state, run=None, queue=queue, phase=Phase.READY), scene, max_scenes=0)
    return " ".join(map(str, rehearsal.findings)) if rehearsal.verdict is Advice.BLOCK else ""


def with_lesson(state: Execution, operations: Iterable[Operation]) -> Execution:
    """Apply the motion changes of a lesson to single steps; raise EditError if they cannot be made.

    This is not an edit by the person. The version of the plan stays the same, "undo that" does not concern it, and the
    journal does not record it, so lessons are applied again when the plan resumes.
    """
    after = edited(state, Edit(tuple(operations), "", state.version)).state
    return with_manner(state, _taught(state.manner, after.manner))


def _taught(before: Manner, after: Manner) -> Manner:
    """Return `before` with the motion of single steps that differs in `after` as taught quantities."""
    taught, said = before.taught, before.said
    for step, offset in after.said.offsets.items():
        if offset != said.offsets.get(step, NOWHERE):
            x, y, z = said.offsets.get(step, NOWHERE)
            taught = taught.with_offset(step, added(offset, (-x, -y, -z)))
    for step, quantities in after.said.quantities.items():
        for name in quantities.keys() - said.quantities.get(step, {}).keys():  # the person's words take precedence
            taught = taught.with_quantity(step, name, quantities[name])
    return replace(before, taught=taught)
