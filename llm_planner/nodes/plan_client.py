"""Hands plans to the executor through the action `execute_plan`, and notices when the executor is gone."""

from __future__ import annotations

import time
from collections.abc import Callable

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import Plan, PlanStatus
from rclpy.node import Node

from llm_planner.language.go_on_words import GO_ON
from llm_planner.nodes.idempotent_requests import GoalClient, GoalEnd, SentGoal
from llm_planner.nodes.shell import LATCHED
from llm_planner.nodes.silence import Silence

SILENCE_MAX = 3.0  # wall seconds without a plan status (two a second are sent) after which the executor is lost
EXECUTOR_LOST = f"The plan executor does not answer; the robot stops by itself. Once it is back, {GO_ON}."
SILENT = 1.0
TAKEN_MAX = 8.0  # wall seconds until the executor has taken a plan; it may wait for a scene first
_RESTARTED = f"The plan executor was restarted under the plan; the robot has stopped; {GO_ON}."

UNDER_WAY = (PlanStatus.RUNNING, PlanStatus.PAUSED)

OnStatus = Callable[[PlanStatus], None]
OnEnd = Callable[[ExecutePlan.Result], None]  # whose code may be any of `ExecuteCommand.action`


class PlanClient:
    """One plan at a time. `on_stop()` tells of a stop by whatever way, `on_word()` of every word of the executor.

    All calls back come from the node's executor; a plan's `on_end` comes once.
    """

    def __init__(self, node: Node, on_stop: Callable[[], None], on_word: Callable[[], None]) -> None:
        self.status = PlanStatus()  # the newest
        self._on_stop, self._on_word = on_stop, on_word
        self._client = GoalClient(node, ExecutePlan, "execute_plan")
        self._silence = Silence()
        self._sent: SentGoal | None = None  # the plan under way
        self._on_end: OnEnd | None = None  # of it
        node.create_subscription(PlanStatus, "plan_status", self._on_plan_status, LATCHED)

    def is_heard(self) -> bool:
        """Whether the executor lives and takes plans."""
        return self._silence.seconds < SILENCE_MAX and self._client.is_ready

    @property
    def is_silent(self) -> bool:
        """Whether the executor has missed a word: it may be gone."""
        return self._silence.seconds > SILENT

    def start(self, plan: Plan, on_status: OnStatus, on_end: OnEnd) -> None:
        """Send the plan, until the executor has taken it. One that dies or never answers is noticed."""
        self._on_end, self._sent = on_end, None
        sent = self._sent = self._client.send(
            ExecutePlan.Goal(plan=plan),
            TAKEN_MAX,
            lambda feedback: on_status(feedback.status) if self._on_end is on_end else None,
            lambda end: self._finish(_result(end)) if self._sent is sent else None,
        )

    def cancel(self) -> None:
        """Stop the plan under way, also when the executor has not answered yet."""
        if self._sent is not None:
            self._client.cancel(self._sent)

    def watch(self) -> None:
        """To be called a few times a second."""
        self._silence.look(time.monotonic())
        if self._silence.seconds > SILENCE_MAX and self._on_end is not None:
            self.cancel()  # should it live after all, it does not go on with what nobody waits for
            self._finish(_lost(EXECUTOR_LOST))

    def _on_plan_status(self, status: PlanStatus) -> None:
        before, self.status = self.status, status
        self._silence.heard()
        if before.executor not in (0, status.executor):
            self._finish(_lost(_RESTARTED))
        elif before.executor and status.stops != before.stops:
            self._on_stop()
        self._on_word()

    def _finish(self, result: ExecutePlan.Result) -> None:
        on_end, self._on_end, self._sent = self._on_end, None, None
        if on_end is not None:
            on_end(result)


def _result(end: GoalEnd) -> ExecutePlan.Result:
    return end.result if end.result is not None else _lost(EXECUTOR_LOST)


def _lost(message: str) -> ExecutePlan.Result:
    return ExecutePlan.Result(error_code=ExecuteCommand.Result.EXECUTOR_LOST, error_msg=message)
