"""Client of nav2: drives a mobile base by the action `NavigateToPose` and limits its speed by `speed_limit`."""

from __future__ import annotations

import math
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from llm_planner.errors import InputError
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.conversions.base_messages import MAP_FRAME
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.message_conversions import pose_to_msg
from llm_planner.ros.newest_goal import MotionEnd, NewestGoalClient
from llm_planner.ros.optional_packages import required_module
from llm_planner.ros.parameters import Setting, arm_of
from llm_planner.scene.scene import Pose

NAVIGATE_ACTION = Setting(
    "navigate_action",
    "",
    "the action nav2_msgs/NavigateToPose that drives a mobile base instead of the controller of this package, such as "
    "navigate_to_pose; empty: none",
)
PERIOD = 0.1  # [s, wall time] between checks for unanswered goals
LONGEST = 600.0  # [s, wall time] of a drive; skills have shorter timeouts


class _NavigationClient(NewestGoalClient[Pose]):
    """Client that remembers why nav2 gave a goal up; nav2 has tried its recoveries then, so it is not sent again."""

    reason = ""

    def _verdict(self, answer: Any) -> MotionEnd | None:
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            return MotionEnd.REACHED
        told = getattr(answer.result, "error_msg", "") or "it does not say why"
        self.reason = f"nav2 gave up (error code {getattr(answer.result, 'error_code', 0)}): {told[:200]}"
        return MotionEnd.FAILED


class ActionNavigator:
    """`Navigator` of nav2's actions."""

    def __init__(self, node: BaseNode, action: str) -> None:
        """Raise InputError if nav2_msgs is not installed."""
        needed = "the parameter navigate_action needs"
        navigate = required_module("nav2_msgs.action", needed, "NavigateToPose").NavigateToPose
        self._node, self._action, self._goal_type = node, action, navigate.Goal
        self._limit_type = required_module("nav2_msgs.msg", needed, "SpeedLimit").SpeedLimit
        self._client = _NavigationClient(
            ActionClient(node, navigate, action), self._goal, LONGEST, lambda pose, end: self._on_end(end)
        )
        self._limits = node.create_lifecycle_publisher(self._limit_type, "speed_limit", LATCHED)
        self._limit = math.inf
        self._failure: str | None = ""
        node.every(PERIOD, self._client.watch)

    @property
    def failure(self) -> str | None:
        """See `Navigator`."""
        if self._failure is None and self._client.is_unheard:
            self._client.cancel()
            self._failure = f"no action server answers at {self._action}: is nav2 running and active?"
        return self._failure

    def go(self, pose: Pose) -> None:
        """See `Navigator`."""
        self._failure, self._client.reason = None, ""
        self._client.move(pose)

    def cancel(self) -> None:
        """See `Navigator`."""
        self._client.cancel()

    def limit_speed(self, speed: float) -> None:
        """See `Navigator`; nav2 takes 0 for no limit."""
        if speed != self._limit:
            self._limit = speed
            message = self._limit_type(speed_limit=speed if math.isfinite(speed) else 0.0)
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._limits.publish(message)

    def _goal(self, pose: Pose) -> Any:
        goal = self._goal_type()
        goal.pose.header, goal.pose.pose = header(self._node.now(), MAP_FRAME), pose_to_msg(pose)
        return goal

    def _on_end(self, end: MotionEnd) -> None:
        said = {MotionEnd.REACHED: "", MotionEnd.SILENT: f"nav2 did not arrive within {LONGEST:g} s"}
        self._failure = said.get(end, self._client.reason or "nav2 refuses the goal")


def navigator_of(node: BaseNode) -> ActionNavigator | None:
    """Return the navigator that the parameter `navigate_action` names, None if it is empty; raise InputError."""
    action = str(node.setting(NAVIGATE_ACTION.name))
    if action and arm_of(node) is not None:
        raise InputError(
            f"the parameter navigate_action is {action!r}, but robot is {node.setting('robot')!r}: nav2 drives a "
            "mobile base; set robot to mobile, or leave navigate_action empty"
        )
    return ActionNavigator(node, action) if action else None
