"""Hands plans to the executor through the action `execute_plan`, and notices when the executor is gone."""

from __future__ import annotations

import time
from collections.abc import Callable

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import Plan, PlanStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.language.go_on_words import GO_ON
from llm_planner.nodes.shell import LATCHED
from llm_planner.nodes.silence import Silence

SILENCE_MAX = 3.0  # wall seconds without a plan status (two a second are sent) after which the executor is lost
EXECUTOR_LOST = f"The plan executor does not answer; the robot stops by itself. Once it is back, {GO_ON}."
SILENT = 1.0
UNNAMED_MAX = 8.0  # wall seconds in which the executor lives and does not name the plan that it was sent
_UNNAMED = "The plan executor is not carrying this out: word of it was lost on the way. Say the command again."
_RESTARTED = f"The plan executor was restarted under the plan; the robot has stopped; {GO_ON}."

UNDER_WAY = (PlanStatus.RUNNING, PlanStatus.PAUSED)

OnStatus = Callable[[PlanStatus], None]
OnEnd = Callable[[ExecutePlan.Result], None]  # whose code may be any of `ExecuteCommand.action`


class PlanClient:
    """One plan at a time. `on_stop()` tells of a stop by whatever way, `on_word()` of every word of the executor.

    A plan ends for us, too, where the executor has not named it for `unnamed_max` [s, wall time].

    All calls back come from the node's executor; a plan's `on_end` comes once.
    """

    def __init__(
        self, node: Node, on_stop: Callable[[], None], on_word: Callable[[], None], unnamed_max: float = UNNAMED_MAX
    ) -> None:
        self.status = PlanStatus()  # the newest
        self._on_stop, self._on_word = on_stop, on_word
        self._client = ActionClient(node, ExecutePlan, "execute_plan")
        self._silence = Silence()
        self._unnamed, self._unnamed_max = Silence(), unnamed_max  # of the plan under way
        self._plan_id = ""
        self._run = 0  # counts the plans: late answers belong to an earlier one
        self._handle: ClientGoalHandle | None = None
        self._on_end: OnEnd | None = None  # of the plan under way
        self._cancel_wanted = False
        node.create_subscription(PlanStatus, "plan_status", self._on_plan_status, LATCHED)

    def is_heard(self) -> bool:
        """Whether the executor lives and takes plans."""
        return self._silence.seconds < SILENCE_MAX and self._client.server_is_ready()

    @property
    def is_silent(self) -> bool:
        """Whether the executor has missed a word: it may be gone."""
        return self._silence.seconds > SILENT

    def start(self, plan: Plan, on_status: OnStatus, on_end: OnEnd) -> None:
        """Send the plan. An executor that never answers is noticed by `watch`, and one that the plan never reached."""
        self._run += 1
        self._plan_id = plan.id
        self._unnamed.heard()
        run = self._run
        self._handle, self._on_end, self._cancel_wanted = None, on_end, False
        sent = self._client.send_goal_async(
            ExecutePlan.Goal(plan=plan),
            feedback_callback=lambda message: self._on_feedback(run, on_status, message.feedback.status),
        )
        sent.add_done_callback(lambda future: self._on_answer(run, future))

    def cancel(self) -> None:
        """Stop the plan under way, also when the executor has not answered yet."""
        self._cancel_wanted = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def watch(self) -> None:
        """To be called a few times a second."""
        self._silence.look(time.monotonic())
        self._unnamed.look(time.monotonic())
        if self._silence.seconds > SILENCE_MAX:
            self._give_up(EXECUTOR_LOST)
        elif self._unnamed.seconds > self._unnamed_max:
            self._give_up(_UNNAMED)

    def _on_plan_status(self, status: PlanStatus) -> None:
        before, self.status = self.status, status
        self._silence.heard()
        if status.plan_id == self._plan_id and status.state in UNDER_WAY:
            self._unnamed.heard()
        restarted = before.executor not in (0, status.executor)
        if restarted:
            self._finish(self._run, _lost(_RESTARTED))
        elif before.executor and status.stops != before.stops:
            self._on_stop()
        self._on_word()

    def _on_answer(self, run: int, future: Future) -> None:
        handle = future.result()
        if not handle.accepted:
            self._finish(run, _lost(EXECUTOR_LOST))
            return
        if self._cancel_wanted or run != self._run or self._on_end is None:
            handle.cancel_goal_async()
        if run == self._run:
            self._handle = handle
        handle.get_result_async().add_done_callback(lambda done: self._finish(run, done.result().result))

    def _on_feedback(self, run: int, on_status: OnStatus, status: PlanStatus) -> None:
        if run == self._run and self._on_end is not None:
            on_status(status)

    def _give_up(self, why: str) -> None:
        """Should the executor have the plan after all, it does not go on with what nobody waits for."""
        if self._on_end is not None:
            self.cancel()
            self._finish(self._run, _lost(why))

    def _finish(self, run: int, result: ExecutePlan.Result) -> None:
        if run == self._run and self._on_end is not None:
            on_end, self._on_end, self._handle = self._on_end, None, None
            on_end(result)


def _lost(message: str) -> ExecutePlan.Result:
    return ExecutePlan.Result(error_code=ExecuteCommand.Result.EXECUTOR_LOST, error_msg=message)
