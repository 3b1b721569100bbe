"""A command in the language planner, from its arrival to its end."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from llm_planner.plan import plan
from llm_planner.plan.decoding.task import History
from llm_planner.plan.events import EndReason
from llm_planner.plan.repair import Remainder

NOTHING = Remainder(plan.Plan("", ""), EndReason.DONE, (), History())
SHOWN = 200  # characters of a command that are repeated to people


@dataclass
class Command:
    """`goal` is None for a command that came by the topic. `status` and `feedback` are what was told of it last.

    `left` is what there was to do at first, `ended` how its last plan did, and `repairs` how many others have gone on.
    """

    text: str
    goal: ServerGoalHandle | None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: int = CommandStatus.QUEUED
    plan: Plan = field(default_factory=Plan)
    left: Remainder = NOTHING
    ended: ExecutePlan.Result = field(default_factory=ExecutePlan.Result)
    repairs: int = 0
    feedback: ExecuteCommand.Feedback = field(default_factory=ExecuteCommand.Feedback)
    code: int = ExecuteCommand.Result.SUCCEEDED
    message: str = ""
    status: CommandStatus = field(default_factory=CommandStatus)
    done: Future = field(default_factory=Future)

    @property
    def source(self) -> str:
        """How it came, which is what privileges are given by; nothing that is said can change it."""
        return "topic" if self.goal is None else "action"

    @property
    def shown(self) -> str:
        """Its words, shortened where they are very many."""
        return self.text if len(self.text) <= SHOWN else self.text[:SHOWN] + "…"

    def over(self, how: str) -> str:
        """That it is over while a plan is being made, for a person; `how` is "Stopped" or "Canceled"."""
        return f"{how}." if self.repairs else f"{how} before anything moved."

    def end_goal(self) -> ExecuteCommand.Result:
        """Tell the goal, once the command is over, how it ended."""
        if self.code == ExecuteCommand.Result.SUCCEEDED:
            self.goal.succeed()
        elif self.code == ExecuteCommand.Result.CANCELED and self.goal.is_cancel_requested:
            self.goal.canceled()
        else:
            self.goal.abort()
        return ExecuteCommand.Result(error_code=self.code, error_msg=self.message, plan_id=self.plan.id)

    def repeat_feedback(self) -> None:
        """Whoever sent the command sees by it that we live."""
        if self.goal is not None and self.goal.is_active:
            self.goal.publish_feedback(self.feedback)
