"""What lessons make of the motion of single steps.

It is no edit of the person's: it makes no new version of the plan, "undo that" is not about it, and the journal does
not keep it: whoever goes on with the plan is taught anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from llm_planner.plan.edit_motion import with_manner
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import Edit, Operation
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.manner import Manner, added
from llm_planner.skills.tuning import NOWHERE


def with_lesson(state: Execution, operations: Iterable[Operation]) -> Execution:
    """The execution with these changes of its steps' motion; raises EditError where they cannot be made."""
    after = edited(state, Edit(tuple(operations), "", state.version)).state
    return with_manner(state, _taught(state.manner, after.manner))


def _taught(before: Manner, after: Manner) -> Manner:
    """As `before`, with what is otherwise in the steps of `after` as taught."""
    taught, said = before.taught, before.said
    for step, offset in after.said.offsets.items():
        if offset != said.offsets.get(step, NOWHERE):
            x, y, z = said.offsets.get(step, NOWHERE)
            taught = taught.with_offset(step, added(offset, (-x, -y, -z)))
    for step, quantities in after.said.quantities.items():
        for name in quantities.keys() - said.quantities.get(step, {}).keys():  # what the person says goes before
            taught = taught.with_quantity(step, name, quantities[name])
    return replace(before, taught=taught)
