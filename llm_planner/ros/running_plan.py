"""The executor's running plan: its published status, its journal records, and the service `edit_plan` that changes it.

Records are written before they take effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStatus
from llm_planner_interfaces.srv import EditPlan
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from llm_planner.corrections.draft import EditError, StaleEditError
from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.editing import Edited, acts_in_motion, difference, edited, with_lesson
from llm_planner.corrections.edits import Cancel, Edit, Hold, Resume
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import EndReason, Execution, PauseRequested, Phase, ResumeRequested
from llm_planner.execution.journal import RecordKind
from llm_planner.execution.journal_buffer import Journal
from llm_planner.execution.motion_rules import MotionRules
from llm_planner.execution.watch import ConstraintResult, RunLog
from llm_planner.language.stop_words import GO_ON
from llm_planner.planning.report import plan_record
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.ros.base_node import BaseNode
from llm_planner.ros.conversions.correction_messages import edit_from_text, edit_to_text
from llm_planner.ros.conversions.plan_messages import constraint_to_msg, plan_to_msg, step_to_msg
from llm_planner.ros.idempotent_requests import SharedGoal, answer_once
from llm_planner.ros.journal_file import note, record
from llm_planner.ros.waiting import Worker

MOST_EDITS = 20  # in the status, the newest
_ENDS = {EndReason.DONE: PlanStatus.SUCCEEDED, EndReason.STOPPED: PlanStatus.STOPPED}


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
        state, number = self.state, PlanStatus.RUNNING
        if state.end is not None:
            number = _ENDS.get(state.end.reason, PlanStatus.FAILED)
        elif state.phase is Phase.PAUSED:
            number = PlanStatus.PAUSED
        return PlanStatus(
            plan_id=self.id,
            state=number,
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


def note_plan(journal: Journal, running: Running) -> None:
    """Record a plan at its start, or when its program has unrolled to other steps than predicted."""
    note(journal, RecordKind.PLAN, running.id, **plan_record(running.state))


def note_steps(journal: Journal, running: Running, before: Execution) -> None:
    """Record the steps whose status has changed since `before`, and the plan if its steps are new."""
    after = running.state
    if after.phase is not Phase.ENDED and after.version == before.version and _calls(after) != _calls(before):
        note_plan(journal, running)
    changed = _changed(before.plan.steps, after.plan.steps)
    if changed:
        data = ({"step_id": step.id, "step": str(step), "status": step.status.value} for step in changed)
        journal.append(*(record(RecordKind.STEP, running.id, **one) for one in data))


def step_news(before: Plan, after: Plan) -> list[str]:
    """Describe the steps that have begun or ended, one line each."""
    numbers = {step.id: number for number, step in enumerate(after.steps, 1)}
    total = f"/{len(after.steps)}" if after.complete else ""
    return [
        f"step {numbers[step.id]}{total} {step}: {step.status.value}" + (step.message and f", {step.message}")
        for step in _changed(before.steps, after.steps)
    ]


def _calls(state: Execution) -> list[tuple[str, str]]:
    return [(step.id, str(step)) for step in state.plan.steps]


def _changed(before: Sequence[PlanStep], after: Sequence[PlanStep]) -> list[PlanStep]:
    """Return the steps with a new status, except pending and skipped ones."""
    known = {step.id: step.status for step in before}
    begun = (step for step in after if step.status is not StepStatus.SKIPPED)
    return [step for step in begun if known.get(step.id, StepStatus.PENDING) is not step.status]


Response = EditPlan.Response


class NoPlanError(EditError):
    """No plan is running that could be edited."""


class EditService:
    """Applies one edit at a time; edits beyond the manner of motion are checked in a thread while the robot is held.

    A motion edit without words comes from a lesson, not from a person. It makes no new version of the plan, and
    "undo that" does not refer to it.

    `find()` returns the running plan, `go(running, state, commands)` puts a new state in force, and `stop(reason)`
    stops the robot.
    """

    def __init__(
        self,
        node: BaseNode,
        journal: Journal,
        find: Callable[[], Running | None],
        go: Callable[..., None],
        stop: Callable[[str], None],
    ) -> None:
        self._node, self._journal, self._find, self._go, self._stop = node, journal, find, go, stop
        self._worker = Worker(node)
        # Reentrant, since a stop must be heard while an edit is being checked.
        node.create_service(EditPlan, "edit_plan", answer_once(self._on_edit), callback_group=ReentrantCallbackGroup())

    async def _on_edit(self, request: EditPlan.Request, response: Response) -> Response:
        running = self._find()
        try:
            edit = edit_from_text(request.edit)
            if running is None or request.plan_id not in ("", running.id):
                raise NoPlanError("no plan is running: say it as a command")
            response.difference = await self._made(running, edit, request)
            response.error_code = Response.ACCEPTED
        except LlmPlannerError as error:
            response.error_code, response.error_msg = _code(error), str(error)
            self._node.tell(f"edit not made: {error}")
        response.version = running.state.version if running else 0
        return response

    async def _made(self, running: Running, edit: Edit, request: EditPlan.Request) -> tuple[str, ...]:
        """Apply or only check the edit, and return the difference; raise EditError if it is refused."""
        if request.only_check:
            state = running.state
            return (await self._worker.do(lambda: edited(state, edit, request.confirmed))).difference
        if self._is_reflex(running, edit):
            return ()
        while running.checked is not None:
            await running.checked
        if not edit.words and acts_in_motion(edit):
            before = running.state
            self._go(running, with_lesson(before, edit.operations), ())
            return difference(before, running.state)
        if acts_in_motion(edit) or running.has_ended or edit.version != running.state.version:
            return self._taken(running, edit, edited(running.state, edit, request.confirmed))
        return await self._checked(running, edit, request.confirmed)

    def _is_reflex(self, running: Running, edit: Edit) -> bool:
        """Apply the edit if it acts at once (cancel, hold, resume); return whether it does."""
        match edit.operations:
            case (Cancel(),):
                self._stop(f"you said “{edit.words}”" if edit.words else "you said stop")
            case (Hold() | Resume() as wanted,) if running.checked is not None:  # held anyway while an edit is checked
                running.goes_on = isinstance(wanted, Resume)
            case (Hold() | Resume(),):
                self._taken(running, edit, edited(running.state, edit))
            case _:
                return False
        return True

    async def _checked(self, running: Running, edit: Edit, confirmed: bool) -> tuple[str, ...]:
        """Hold the robot, check the edit in a thread, apply it, and resume."""
        running.checked, running.goes_on = Future(), running.state.phase is not Phase.PAUSED
        self._go(running, *advance(running.state, PauseRequested()))
        try:
            state = running.state
            result = await self._worker.do(lambda: edited(state, edit, confirmed))
            difference = self._taken(running, edit, result)
            if any(isinstance(one, Hold) for one in edit.operations):
                running.goes_on = False
            return difference
        finally:
            checked, running.checked = running.checked, None
            if running.goes_on:
                self._go(running, *advance(running.state, ResumeRequested()))
            checked.set_result(None)

    def _taken(self, running: Running, edit: Edit, result: Edited) -> tuple[str, ...]:
        """Record the edit in the journal, then put it in force."""
        if running.has_ended:
            raise NoPlanError("the plan ended before that could be changed; say it as a command")
        note(
            self._journal, RecordKind.EDIT, running.id, words=edit.words, edit=edit_json(edit),
            version=result.state.version, difference=list(result.difference),
            plan=plan_record(result.state),
        )  # fmt: skip
        if edit.words:
            self._node.tell(f"edit “{edit.words}”: {'; '.join(result.difference) or 'nothing changes'}")
        if result.difference:
            running.edits = (*running.edits, edit)
        self._go(running, result.state, result.commands)
        return result.difference


def _code(error: LlmPlannerError) -> int:
    match error:
        case StaleEditError():
            return Response.STALE
        case NoPlanError():
            return Response.NO_PLAN
        case InputError():
            return Response.INVALID
        case _:
            return Response.REFUSED
