"""What the executor and its edits write into the journal, before it takes effect."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.correction.edit_json import edit_json
from llm_planner.nodes.journal_file import note, record
from llm_planner.nodes.running_plan import Running
from llm_planner.plan.editing import Edited
from llm_planner.plan.edits import Edit
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.journal import Record, RecordKind
from llm_planner.plan.journal_buffer import Journal
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.plan.plan_record import plan_record


def note_plan(journal: Journal, running: Running) -> None:
    """A plan that begins, or one that the program has turned out to go on with otherwise."""
    note(journal, RecordKind.PLAN, running.id, **plan_record(running.state))


def note_edit(journal: Journal, running: Running, edit: Edit, result: Edited) -> None:
    """An edit that is about to be in force, and the plan with it."""
    note(
        journal, RecordKind.EDIT, running.id, words=edit.words, edit=edit_json(edit),
        version=result.state.version, difference=list(result.difference),
        plan=plan_record(result.state),
    )  # fmt: skip


def note_steps(journal: Journal, running: Running, before: Execution) -> None:
    """What has become of steps since `before`."""
    after = running.state
    if after.phase is not Phase.ENDED and after.version == before.version and _calls(after) != _calls(before):
        note_plan(journal, running)
    changed = _changed(before.plan.steps, after.plan.steps)
    if changed:
        journal.append(*(_of_step(running.id, step) for step in changed))


def _of_step(plan_id: str, step: PlanStep) -> Record:
    return record(RecordKind.STEP, plan_id, step_id=step.id, step=str(step), status=step.status.value)


def _calls(state: Execution) -> list[tuple[str, str]]:
    return [(step.id, str(step)) for step in state.plan.steps]


def _changed(before: Sequence[PlanStep], after: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps whose status is new, unless they are merely foreseen, or never begun."""
    known = {step.id: step.status for step in before}
    begun = (step for step in after if step.status is not StepStatus.SKIPPED)
    return [step for step in begun if known.get(step.id, StepStatus.PENDING) is not step.status]
