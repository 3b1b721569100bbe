"""What lessons change of all motion while one step is under way, and what the end of that step takes back.

It is no edit of the person's: it makes no new version of the plan, and "undo that" is not about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from llm_planner.plan.edit_motion import with_manner
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import QUANTITIES, Edit, Operation
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.manner import Manner


@dataclass(frozen=True)
class Lent:
    """Of each quantity that is otherwise during `step`: what it was before, and what lessons have made it.

    `since` is the plan's version when the step began.
    """

    step: str = ""
    since: int = 0
    quantities: Mapping[str, tuple[float, float]] = field(default_factory=dict)


NOT_LENT = Lent()


def with_lesson(state: Execution, operations: Iterable[Operation]) -> Execution:
    """The execution with these changes of its motion; raises EditError where they cannot be made."""
    after = edited(state, Edit(tuple(operations), "", state.version)).state
    return replace(after, version=state.version, before=state.before)


def lent(step: str, before: Execution, after: Execution) -> Lent:
    """What has to be taken back when `step` ends."""
    values = {name: (getattr(before.manner, name), getattr(after.manner, name)) for name in QUANTITIES}
    changed = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
    return Lent(step, before.version, changed)


def taken_back(state: Execution, what: Lent) -> Execution:
    """As usual again, but for what the person has said of it since; also in all that "undo that" may go back to."""
    if not what.quantities:
        return state
    before = state.before
    if before is not None and before.version >= what.since:
        before = taken_back(before, what)
    manner = _as_usual(state.manner, what)
    after = state if manner == state.manner else with_manner(state, manner)
    return replace(after, before=before)


def _as_usual(manner: Manner, what: Lent) -> Manner:
    for name, (was, made) in what.quantities.items():
        if getattr(manner, name) == made:
            manner = manner.with_quantity(name, was)
    return manner
