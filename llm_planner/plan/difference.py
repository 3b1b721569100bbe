"""What an edit changes of a plan, as lines for a person: + what is new, - what is left out, ~ what is otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from llm_planner.plan.execution_state import Execution
from llm_planner.plan.manner import Manner
from llm_planner.plan.plan import PlanStep
from llm_planner.temporal.words import read_back

_UNITS = {"speed": "of the full speed", "clearance": "m", "height": "m"}


def difference(before: Execution, after: Execution) -> tuple[str, ...]:
    """From `before` to `after`, steps first."""
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
            yield f"+ {step.id} {step}{_before(step, after)}"
        elif str(old[step.id]) != str(step):
            yield f"~ {step.id} {old[step.id]} -> {step}"
    if kept != order:
        yield f"~ order: {', '.join(order)}"


def _before(step: PlanStep, steps: tuple[PlanStep, ...]) -> str:
    place = steps.index(step)
    return f" before {steps[place + 1].id}" if place + 1 < len(steps) else ""


def _manner(before: Manner, after: Manner) -> Iterator[str]:
    for name, unit in _UNITS.items():
        changed: dict[tuple[float, float], list[str]] = {}
        for step in ("", *_special(name, before, after)):
            changed.setdefault((before.quantity(name, step), after.quantity(name, step)), []).append(step)
        yield from (
            f"~ {name} {old:g} -> {new:g} {unit}{_in(where)}" for (old, new), where in changed.items() if old != new
        )
    for step in sorted({*before.shifted_steps, *after.shifted_steps}):
        offset = after.own_offset(step)
        if before.own_offset(step) != offset:
            yield f"~ step {step} is done {_metres(offset)} from where it would be"
    if before.offset != after.offset:
        yield f"~ everything is done {_metres(after.offset)} from where it would be"


def _in(steps: list[str]) -> str:
    """Where; nothing where it is so in all of the plan."""
    if "" in steps:
        return ""
    *others, last = steps
    return f", in steps {', '.join(others)} and {last}" if others else f", in step {last}"


def _special(name: str, *manners: Manner) -> list[str]:
    """The steps that have such a quantity of their own."""
    return sorted({step for manner in manners for step in manner.special_steps if manner.is_special(name, step)})


def _metres(offset: tuple[float, float, float]) -> str:
    return f"({', '.join(f'{value:.3f}' for value in offset)}) m"


def _rules(before: Execution, after: Execution) -> Iterator[str]:
    for sign, one, other in (("-", before, after), ("+", after, before)):
        known = {constraint.formula for constraint in other.plan.constraints}
        for constraint in one.plan.constraints:
            if constraint.formula not in known:
                kind = "goal" if constraint.goal else "rule"
                yield f"{sign} {kind}: {constraint.words} ({read_back(constraint.formula)})"
