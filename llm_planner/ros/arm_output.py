"""Command output to an arm (`ros2_control` or the simulator), and the object in its hand.

The interface `trajectory` sends whole trajectories to a joint_trajectory_controller. They end at rest, so the robot
stops if it receives nothing more. `position` and `velocity` send one value per joint and tick to a forward command
controller, which repeats the last value for ever; prefer `trajectory`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.node import Node
from std_msgs.msg import Float64, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.formulation import sample
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.carried import Carried, Grip
from llm_planner.robots.controllers import POSITION, TRAJECTORY
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions.message_conversions import SceneReader, trajectory_to_msg
from llm_planner.ros.robot_topics import command_interface, command_topic, gripper_goes_with_joints

CLOSING = 5.0  # [1/s] feedback gain of velocity commands on the deviation from the plan


class ArmOutput:
    """Publisher of joint commands, with a separate one for the gripper if so configured."""

    def __init__(self, node: BaseNode, arm: ArmModel) -> None:
        """Read `OUTPUT_SETTINGS`, which the node must declare; raise InputError."""
        self._arm = arm
        self._interface = command_interface(node, arm)
        in_joints = gripper_goes_with_joints(node)
        if in_joints and self._interface != TRAJECTORY:
            raise InputError(
                f"the gripper's width cannot go with the joints' {self._interface}; set the parameter gripper to topic"
            )
        self._with_finger = in_joints and bool(arm.fingers)
        self._width = float("nan")
        kind = JointTrajectoryMsg if self._interface == TRAJECTORY else Float64MultiArray
        self._command = node.create_lifecycle_publisher(kind, command_topic(node, arm), 1)
        self._gripper = None if in_joints else node.create_lifecycle_publisher(Float64, "gripper_command", LATCHED)

    def send(self, plan: JointTrajectory, state: JointState, now: float) -> None:
        """Send commands that follow `plan`.

        Args:
            plan: Trajectory of the arm.
            state: Measured state, for the feedback of velocity commands.
            now: Time [s] at which position and velocity commands take effect.
        """
        if self._interface == TRAJECTORY:
            self._command.publish(trajectory_to_msg(plan, self._arm, self._with_finger))
        else:
            self._command.publish(Float64MultiArray(data=array("d", self._values(plan, state, now))))
        width = plan.gripper_width
        if self._gripper is not None and width == width and width != self._width:  # not NaN, and new
            self._width = width
            self._gripper.publish(Float64(data=width))

    def _values(self, plan: JointTrajectory, state: JointState, now: float) -> list[float]:
        planned = sample(plan, now)
        if self._interface == POSITION:
            return list(planned.qpos.tolist())
        off = sample(plan, state.time).qpos - state.qpos
        most = self._arm.limits.qvel_max
        return list(np.clip(planned.qvel + CLOSING * off, -most, most).tolist())


class HandFeed:
    """Calls `on_change` with the held object, or None, whenever `scene` shows a change."""

    def __init__(self, node: Node, arm: ArmModel, on_change: Callable[[Carried | None], None]) -> None:
        self._node, self._on_change = node, on_change
        self._grip, self._scenes = Grip(), SceneReader(self._tell, arm.name)
        node.create_subscription(SceneMsg, "scene", self._on_scene, NEWEST_ONLY)

    def _on_scene(self, message: SceneMsg) -> None:
        try:
            if self._grip.see(self._scenes.read(message)):
                self._on_change(self._grip.carried)
        except LlmPlannerError as error:
            self._node.get_logger().error(f"what the hand holds is not known: {error}", throttle_duration_sec=5.0)

    def _tell(self, flaw: str) -> None:
        self._node.get_logger().warning(flaw, throttle_duration_sec=5.0)
