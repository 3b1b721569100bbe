"""Node that moves a real gripper: it turns `gripper_command`, a width [m], into goals of the gripper's action.

The action is that of ros2_control's gripper controllers and of many drivers, `GripperCommand` or
`ParallelGripperCommand` of control_msgs. `/diagnostics` tells whether the gripper reached the width, stalled (as it
does at an object) or failed. Skills see the width by the joint states of the gripper, not by these results.
"""

from __future__ import annotations

import math

from rclpy.action import ActionClient
from std_msgs.msg import Float64

from llm_planner.robots.controllers import GRIPPER_ACTIONS
from llm_planner.ros.base_node import ERROR, LATCHED, OK, BaseNode, run_node
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.robot_messages import width_from_msg
from llm_planner.ros.external_actions import GripperClient, MotionEnd, goal_to_msg
from llm_planner.ros.message_types import required_type
from llm_planner.ros.parameters import ROBOT, Setting, arm_of
from llm_planner.ros.robot_topics import GRIPPER_ACTION, GRIPPER_ACTION_SETTINGS, gripper_controller

PERIOD = 0.1  # [s, wall time] between checks for unanswered goals


class GripperNode(BaseNode):
    """Moves the gripper to the newest width; a width that is lost or dropped is sent again until the deadline."""

    SETTINGS = (
        ROBOT,
        *GRIPPER_ACTION_SETTINGS,
        Setting("gripper_timeout", 10.0, "wall time for the gripper to reach a width or to stall [s]", 1.0, 60.0),
    )

    def configure(self) -> None:
        controller = gripper_controller(self, arm_of(self))
        self._level, self._message = OK, "idle"
        self._client = None
        if controller is None:
            self._message = f"no action is named ({GRIPPER_ACTION.name}, robot.yaml): gripper_command is not forwarded"
        else:
            needed = f"the gripper's action ({GRIPPER_ACTIONS[0]} is in every control_msgs) needs"
            kind = required_type("control_msgs.action", controller.type, needed)
            client = ActionClient(self, kind, controller.action)
            self._action = f"{controller.action} ({controller.type})"
            timeout = float(self.setting("gripper_timeout"))
            self._client = GripperClient(
                client, lambda width: goal_to_msg(kind, controller, width), timeout, self._on_end
            )
            self.create_subscription(
                Float64, "gripper_command", validated(self, width_from_msg, self._on_width), LATCHED
            )
            self.every(PERIOD, self._client.watch)
        self.get_logger().info(self._message)
        self.report_with(self._on_diagnose)

    def _on_width(self, width: float) -> None:
        if not math.isnan(width) and self.is_active:
            self._level, self._message = OK, f"moves to {width:.3f} m"
            self._client.move(width)

    def _on_end(self, width: float, end: MotionEnd) -> None:
        said = {
            MotionEnd.REACHED: f"is at {width:.3f} m",
            MotionEnd.STALLED: f"stalled on the way to {width:.3f} m: it holds something, or is blocked",
            MotionEnd.FAILED: f"{self._action} gave {width:.3f} m up again and again; look at what it prints",
            MotionEnd.SILENT: f"{self._action} did not end {width:.3f} m in time; is its controller active?",
        }
        failed = end in (MotionEnd.FAILED, MotionEnd.SILENT)
        self._level, self._message = ERROR if failed else OK, said[end]
        (self.get_logger().error if failed else self.get_logger().info)(self._message)
        self._on_diagnose()

    def _on_diagnose(self) -> None:
        self.report(self._level, self._message)


def main() -> None:
    run_node(GripperNode, "gripper")


if __name__ == "__main__":
    main()
