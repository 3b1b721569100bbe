"""Corrections of a plan that has just reached its goal; the language planner gets them as commands of their own."""

from __future__ import annotations

import time
from collections.abc import Callable

from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from rclpy.task import Future

from llm_planner.corrections.dialogue_session import EditResult, EditStatus
from llm_planner.corrections.edits import NO_PLAN, Answer, Edit, Outcome
from llm_planner.corrections.follow_up import follow_up, reopened
from llm_planner.corrections.situation import Situation
from llm_planner.errors import LlmPlannerError
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.commands import FORMULA
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd

REMEMBERED = 120.0  # [s, wall time] after the end of a plan, in which words may be about it
NO_PLANNER = "the language planner does not answer; say it again"
TAKEN_MAX = 5.0  # [s, wall time] for the planner to accept a command
_SILENT = (ExecuteCommand.Result.SUCCEEDED, ExecuteCommand.Result.CANCELED, ExecuteCommand.Result.STOPPED)


class FollowUps:
    """Sends corrections of the last plan as commands.

    `held()` returns what the gripper holds now, "" for nothing. `tell` hears of a command that failed after it began.
    """

    def __init__(self, node: BaseNode, held: Callable[[], str], tell: Callable[[str, Answer], None]) -> None:
        self._node, self._held, self._tell = node, held, tell
        self._held_at_start = ""  # of the newest plan
        self._ended, self._ended_at = "", 0.0  # id of the plan that has reached its goal, and when [s, monotonic]
        self._plan = Plan()  # newest
        self._commands = GoalClient(node, ExecuteCommand, "execute_command")
        node.create_subscription(Plan, "plan", self._on_plan, LATCHED)

    def _on_plan(self, plan: Plan) -> None:
        self._plan = plan

    def on_status(self, before: PlanStatus, status: PlanStatus) -> None:
        """Notice the end of a plan; one that had ended before this node started is not remembered."""
        if before.plan_id != status.plan_id:
            self._held_at_start = self._held()
        elif before.state != status.state and status.state == PlanStatus.SUCCEEDED:
            self._ended, self._ended_at = status.plan_id, time.monotonic()

    def forget(self) -> None:
        """Forget the plan that has ended: the world is another one."""
        self._ended = ""

    def may_follow(self, status: PlanStatus, planned: str) -> bool:
        """Return whether words that are said now may be about the plan with this status, which has ended.

        While another command is `planned` ("" for none), they are about that.
        """
        has_ended = status.state == PlanStatus.SUCCEEDED and status.plan_id == self._ended and bool(status.steps)
        return has_ended and not planned and time.monotonic() < self._ended_at + REMEMBERED

    def reopened(self, situation: Situation) -> Situation:
        """Return the situation, of the plan that has ended, against which words are read."""
        return reopened(situation, self._held_at_start)

    def make(self, edit: Edit, situation: Situation, only_check: bool) -> Future:
        """Send what the edit asks for in a reopened situation, or only check it.

        Returns:
            Future of the EditResult, once the planner has a plan or none; the status is NO_PLAN for nothing to do.
        """
        result = Future(executor=self._node.executor)
        try:
            program = follow_up(edit, situation)
        except LlmPlannerError as error:
            result.set_result(EditResult(EditStatus.REFUSED, str(error)))
            return result
        made = EditResult(EditStatus.ACCEPTED, difference=tuple(f"+ {line}" for line in program.splitlines()))
        if only_check or not program:
            result.set_result(made if program else EditResult(EditStatus.NO_PLAN, NO_PLAN))
            return result

        def on_feedback(feedback: ExecuteCommand.Feedback) -> None:
            if feedback.state == CommandStatus.EXECUTING and not result.done():
                result.set_result(made)

        def on_end(end: GoalEnd) -> None:
            failed = end.result is None or end.result.error_code not in _SILENT
            message = end.result.error_msg if end.result else NO_PLANNER
            if not result.done():
                result.set_result(EditResult(EditStatus.REFUSED, message) if failed else made)
            elif failed:
                self._tell(edit.words, Answer(Outcome.REFUSED, message))

        rules = [f"{FORMULA}{rule.formula}" for rule in situation.plan.constraints if not rule.goal]
        source = self._plan.source if self._plan.id == self._ended else ""
        goal = ExecuteCommand.Goal(command=edit.words, program=program, rules=rules, source=source)
        self._commands.send(goal, TAKEN_MAX, on_feedback, on_end)
        return result
