"""The service `edit_plan`, which checks edits of the running plan and applies them."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner_interfaces.srv import EditPlan
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from llm_planner.corrections.draft import EditError, StaleEditError
from llm_planner.corrections.editing import Edited, acts_in_motion, difference, edited, with_lesson
from llm_planner.corrections.edits import Cancel, Edit, Hold, Resume
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import PauseRequested, Phase, ResumeRequested
from llm_planner.execution.journal_buffer import Journal
from llm_planner.ros.base_node import BaseNode
from llm_planner.ros.conversions.correction_messages import edit_from_text
from llm_planner.ros.idempotent_requests import answer_once
from llm_planner.ros.running_plan import Running, note_edit
from llm_planner.ros.waiting import Worker

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
            return self._taught(running, edit)
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

    def _taught(self, running: Running, edit: Edit) -> tuple[str, ...]:
        before = running.state
        self._go(running, with_lesson(before, edit.operations), ())
        return difference(before, running.state)

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
        note_edit(self._journal, running, edit, result)
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
