"""The plan under way in the executor, and what others are told of it.

What the executor and its edits write into the journal, before it takes effect.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import PlanStatus
from rclpy.task import Future

from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.editing import Edited
from llm_planner.corrections.edits import Edit
from llm_planner.execution.execution_state import EndReason, Execution, Phase
from llm_planner.execution.journal import Record, RecordKind
from llm_planner.execution.journal_buffer import Journal
from llm_planner.execution.motion_rules import MotionRules
from llm_planner.execution.watch import Kept, RunLog
from llm_planner.language.stop_words import GO_ON
from llm_planner.planning.report import plan_record
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.ros.conversions.correction_messages import edit_to_text
from llm_planner.ros.conversions.plan_messages import constraint_to_msg, step_to_msg
from llm_planner.ros.idempotent_requests import SharedGoal
from llm_planner.ros.journal_file import note, record

MOST_EDITS = 20  # that are told of
_STATES = {EndReason.DONE: PlanStatus.SUCCEEDED, EndReason.STOPPED: PlanStatus.STOPPED}


@dataclass
class Running:
    """The plan under way; `state` is replaced by every event, `log` and `rules` see every scene.

    `edits` were applied, the newest last. While one is `checked`, the robot is held and the state looks at no scene;
    `goes_on` says whether it is to move on afterwards.
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

    @property
    def has_ended(self) -> bool:
        return self.state.phase is Phase.ENDED

    @property
    def may_go_on(self) -> bool:
        """Whether whoever sent the plan may send another that goes on from here. What an edit has made of it they do
        not know, and would undo."""
        end = self.state.end
        return end is not None and end.may_go_on and not self.edits

    @property
    def told_at_the_end(self) -> str:
        """How it has ended, and what to say where only a person can have it gone on with; "" before its end."""
        end = self.state.end
        if end is None:
            return ""
        by_a_person = end.may_go_on and not self.may_go_on
        return f"{end.message} If it shall be tried again, {GO_ON}." if by_a_person else end.message

    @property
    def kept(self) -> tuple[Kept, ...]:
        """By how much each constraint has been kept up to now."""
        return self.log.kept(self.state.watch)

    @property
    def status(self) -> PlanStatus:
        """All that is told of it, but for who tells it and when."""
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
