"""Taking an edit back: exactly, while nothing has come of it; else with steps that make good what has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llm_planner.plan.draft import Draft, EditError, is_over
from llm_planner.plan.edit_motion import with_manner
from llm_planner.plan.edit_steps import draft_of, pending, with_steps
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.plan.recovery import Task
from llm_planner.skills.contract import Argument
from llm_planner.world.scene import Scene


def undone(state: Execution, scene: Scene) -> Execution:
    """As it was before the last edit; raises EditError where there was none, or what came of it cannot be made good."""
    before = state.before
    if before is None:
        raise EditError("there is nothing to take back: this plan has not been edited")
    if _steps_as_planned(state) == _steps_as_planned(before):
        return _as_wanted(state, before)
    if _ended(state) == _ended(before) and _same_queue(state, before):
        plan = replace(before.plan, constraints=state.plan.constraints)
        same = replace(
            state, plan=plan, interpreter=before.interpreter, queue=before.queue, wanted=before.wanted,
            program_ended=before.program_ended,
        )  # fmt: skip
        return _as_wanted(same, before)
    return _as_wanted(_made_good(state, before, scene), before)


def _steps_as_planned(state: Execution) -> list[tuple[str, str]]:
    return [(step.id, str(step)) for step in state.plan.steps]


def _ended(state: Execution) -> list[str]:
    return [step.id for step in state.plan.steps if is_over(step)]


def _same_queue(state: Execution, before: Execution) -> bool:
    """Whether nothing has begun since that was not under way then."""

    def under_way(tasks: tuple[Task, ...]) -> list[str]:
        return [task.step.id for task in tasks]

    return not state.queue or under_way(state.queue) == under_way(before.queue)


def _as_wanted(state: Execution, before: Execution) -> Execution:
    """In the manner and under the rules of `before`, with what lessons have made of single steps since."""
    manner = replace(before.manner, taught=state.manner.taught)
    return _with_rules_of(with_manner(state, manner), before)


def _with_rules_of(state: Execution, before: Execution) -> Execution:
    """The rules of `before`, with all that those which stayed have seen since."""
    kept = [one.formula for one in before.plan.constraints]
    now = [one.formula for one in state.plan.constraints]
    watch = state.watch
    for formula in now:
        if formula not in kept:
            watch = watch.without_rule(formula)
    lifted = [one for one in before.plan.constraints if one.formula not in now]
    for rule in lifted:
        assert state.scene is not None
        watch = watch.with_rule(rule, state.scene)
    order = {formula: place for place, formula in enumerate(kept)}
    watched = tuple(sorted(watch.watched, key=lambda one: order[one.constraint.formula]))
    plan = replace(state.plan, constraints=before.plan.constraints)
    return replace(state, plan=plan, watch=replace(watch, watched=watched))


def _made_good(state: Execution, before: Execution, scene: Scene) -> Execution:
    """What was to come before the edit, after steps that put back what it had moved."""
    draft, known = draft_of(state), {step.id: str(step) for step in before.plan.steps}
    since = [step for step in draft.done if step.id not in set(_ended(before)) and step.status is StepStatus.DONE]
    strange = any(known.get(step.id) != str(step) for step in since)
    over = set() if strange else {step.id for step in since}  # what was done otherwise is done anew as it was to be
    rest = tuple(pending(step) for step in before.plan.steps if not is_over(step) and step.id not in over)
    calls = _puts_back(since, before, scene, draft) if strange else ()
    backwards = [PlanStep("", skill, arguments, 0, message="put back") for skill, arguments in calls]
    steps, last = list[PlanStep](), draft.last_id
    for step in (*backwards, *rest):  # an id is never used again
        is_new = not step.id or any(step.id == done.id for done in draft.done)
        last += is_new
        steps.append(replace(step, id=str(last)) if is_new else step)
    return with_steps(state, replace(draft, ahead=tuple(steps), last_id=last), scene)


def _puts_back(
    since: list[PlanStep], before: Execution, scene: Scene, draft: Draft
) -> Iterator[tuple[str, dict[str, Argument]]]:
    """The calls that bring every thing that was moved `since` to where it lay when the edit was made."""
    then = before.scene or scene
    if scene.building is not None:
        raise EditError("what has been carried through the building since cannot be taken back; say where it is to go")
    moved = [item.name for item in then.objects if item.name in scene.names and _far(item.name, then, scene)]
    for name in sorted(moved, key=lambda name: name != scene.held):  # what is held first
        if "place_at" not in draft.skills or "pick" not in draft.skills:
            raise EditError("this robot has no skills to put back what has been moved since")
        x, y, _ = before.origins.get(name, then.find(name).position)
        if name != scene.held:
            yield "pick", {"object": name}
        yield "place_at", {"place": (x, y, 0.0)}
    if not moved:
        told = ", ".join(f"{step.id} {step}" for step in since)
        raise EditError(f"what has been done since cannot be taken back: {told}")


MOVED = 0.02  # [m] farther from where it lay, a thing has been moved


def _far(name: str, then: Scene, now: Scene) -> bool:
    a, b = then.find(name).position, now.find(name).position
    return max(abs(p - q) for p, q in zip(a, b, strict=True)) > MOVED
