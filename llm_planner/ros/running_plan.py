"""The executor's running plan, its published status, and its journal records, written before they take effect."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStatus
from rclpy.task import Future

from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.editing import Edited
from llm_planner.corrections.edits import Edit
from llm_planner.execution.execution_state import EndReason, Execution, Phase
from llm_planner.execution.journal import Record, RecordKind
from llm_planner.execution.journal_buffer import Journal
from llm_planner.execution.motion_rules import MotionRules
from llm_planner.execution.watch import ConstraintResult, RunLog
from llm_planner.language.stop_words import GO_ON
from llm_planner.planning.report import plan_record
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.ros.conversions.correction_messages import edit_to_text
from llm_planner.ros.conversions.plan_messages import constraint_to_msg, plan_to_msg, step_to_msg
from llm_planner.ros.idempotent_requests import SharedGoal
from llm_planner.ros.journal_file import note, record

MOST_EDITS = 20  # in the status, the newest
_STATES = {EndReason.DONE: PlanStatus.SUCCEEDED, EndReason.STOPPED: PlanStatus.STOPPED}


@dataclass
class Running:
    """Running plan; every event replaces `state`, and `log` and `rules` see every scene.

    `edits` are the applied edits, newest last. `checked` completes when the edit under check is done; until then the
    robot is held and the state ignores scenes. `goes_on` says whether the robot resumes afterwards.
    """

    goal: SharedGoal
    state: Execution
    done: Future = field(default_factory=Future)
    log: RunLog = field(default_factory=RunLog)
    rules: MotionRules = field(default_factory=lambda: MotionRules(time.time_ns()))
    edits: tuple[Edit, ...] = ()
    checked: Future | None = None
    goes_on: bool = True

    @property
    def id(self) -> str:
        return self.goal.request.plan.id

    def shown(self, time: float) -> PlanMsg:
        """Return the plan as it is now, stamped with `time` [s]."""
        message = plan_to_msg(self.state.plan, self.id, time, version=self.state.version)
        message.source = self.goal.request.plan.source
        return message

    @property
    def has_ended(self) -> bool:
        return self.state.phase is Phase.ENDED

    @property
    def may_go_on(self) -> bool:
        """Whether the sender may continue with another plan; not after edits, which the sender does not know of."""
        end = self.state.end
        return end is not None and end.may_go_on and not self.edits

    @property
    def told_at_the_end(self) -> str:
        """Final message, with advice if only a person can have the plan continued; "" before the end."""
        end = self.state.end
        if end is None:
            return ""
        by_a_person = end.may_go_on and not self.may_go_on
        return f"{end.message} If it shall be tried again, {GO_ON}." if by_a_person else end.message

    @property
    def kept(self) -> tuple[ConstraintResult, ...]:
        """Margin of each constraint so far."""
        return self.log.kept(self.state.watch)

    @property
    def status(self) -> PlanStatus:
        """Status message without executor, lease and stamp."""
        state = self.state
        return PlanStatus(
            plan_id=self.id,
            state=_number(state),
            message=state.end.message if state.end else state.told,
            steps=list(map(step_to_msg, state.plan.steps)),
            complete=state.plan.complete,
            command=state.plan.command,
            version=state.version,
            edits=list(map(edit_to_text, self.edits[-MOST_EDITS:])),
            constraints=list(map(constraint_to_msg, state.plan.constraints)),
            things=list(state.places_before),
            origins=[Point(x=x, y=y, z=z) for x, y, z in state.places_before.values()],
        )


def _number(state: Execution) -> int:
    if state.end is not None:
        return _STATES.get(state.end.reason, PlanStatus.FAILED)
    return PlanStatus.PAUSED if state.phase is Phase.PAUSED else PlanStatus.RUNNING


def note_plan(journal: Journal, running: Running) -> None:
    """Record a plan at its start, or when its program has unrolled to other steps than predicted."""
    note(journal, RecordKind.PLAN, running.id, **plan_record(running.state))


def note_edit(journal: Journal, running: Running, edit: Edit, result: Edited) -> None:
    """Record an edit, and the edited plan, before it is in force."""
    note(
        journal, RecordKind.EDIT, running.id, words=edit.words, edit=edit_json(edit),
        version=result.state.version, difference=list(result.difference),
        plan=plan_record(result.state),
    )  # fmt: skip


def note_steps(journal: Journal, running: Running, before: Execution) -> None:
    """Record the steps whose status has changed since `before`, and the plan if its steps are new."""
    after = running.state
    if after.phase is not Phase.ENDED and after.version == before.version and _calls(after) != _calls(before):
        note_plan(journal, running)
    changed = _changed(before.plan.steps, after.plan.steps)
    if changed:
        journal.append(*(_of_step(running.id, step) for step in changed))


def step_news(before: Plan, after: Plan) -> list[str]:
    """Describe the steps that have begun or ended, one line each."""
    numbers = {step.id: number for number, step in enumerate(after.steps, 1)}
    total = f"/{len(after.steps)}" if after.complete else ""
    return [
        f"step {numbers[step.id]}{total} {step}: {step.status.value}" + (step.message and f", {step.message}")
        for step in _changed(before.steps, after.steps)
    ]


def _of_step(plan_id: str, step: PlanStep) -> Record:
    return record(RecordKind.STEP, plan_id, step_id=step.id, step=str(step), status=step.status.value)


def _calls(state: Execution) -> list[tuple[str, str]]:
    return [(step.id, str(step)) for step in state.plan.steps]


def _changed(before: Sequence[PlanStep], after: Sequence[PlanStep]) -> list[PlanStep]:
    """Return the steps with a new status, except pending and skipped ones."""
    known = {step.id: step.status for step in before}
    begun = (step for step in after if step.status is not StepStatus.SKIPPED)
    return [step for step in begun if known.get(step.id, StepStatus.PENDING) is not step.status]
