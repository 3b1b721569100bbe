"""What the executor tells of the plan under way, as plain values for clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStatus
from rclpy.node import Node

from llm_planner.errors import LlmPlannerError
from llm_planner.plans.plan import PlanStep
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.plan_messages import constraints_from_msgs, steps_from_msg

_CONSTANTS = ("IDLE", "RUNNING", "PAUSED", "SUCCEEDED", "FAILED", "STOPPED")
_STATES = {getattr(PlanStatus, name): name.lower() for name in _CONSTANTS}
UNDER_WAY = ("running", "paused")


@dataclass(frozen=True)
class RunView:
    """Plan under way, or the last one.

    Attributes:
        state: idle, running, paused, succeeded, failed or stopped.
        command: Words of the command.
        source: Source of the command (see docs/concepts/privileges.md); "" if it is not known.
        message: What the executor says, for a person.
        rules: Words and formula of each rule that the plan keeps.
    """

    state: str = "idle"
    command: str = ""
    source: str = ""
    message: str = ""
    steps: tuple[PlanStep, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()

    @property
    def is_under_way(self) -> bool:
        return self.state in UNDER_WAY


class RunFeed:
    """Keeps the newest `run`, while `node` is spun; `warn` receives what cannot be read."""

    def __init__(self, node: Node, warn: Callable[[str], None]) -> None:
        self.run = RunView()
        self._is_heard = False
        self._warn, self._plan, self._status = warn, PlanMsg(), PlanStatus()
        node.create_subscription(PlanMsg, "plan", self._on_plan, LATCHED)
        node.create_subscription(PlanStatus, "plan_status", self._on_status, LATCHED)

    @property
    def is_known(self) -> bool:
        """Whether the executor has been heard, and the source of a run under way is known."""
        return self._is_heard and (bool(self.run.source) or not self.run.is_under_way)

    def _on_plan(self, plan: PlanMsg) -> None:
        self._plan = plan
        self._show()

    def _on_status(self, status: PlanStatus) -> None:
        self._status, self._is_heard = status, True
        self._show()

    def _show(self) -> None:
        status = self._status
        try:
            self.run = RunView(
                _STATES.get(status.state, "idle"),
                checks.text("the command", status.command),
                self._plan.source if self._plan.id == status.plan_id else "",
                checks.text("the message", status.message),
                steps_from_msg(status.steps),
                tuple(
                    (one.words, str(one.formula)) for one in constraints_from_msgs(status.constraints) if not one.goal
                ),
            )
        except LlmPlannerError as error:
            self._warn(f"a plan_status cannot be read: {error}")
