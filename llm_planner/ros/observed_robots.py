"""Robot adapters of the skill server: topic of the robot's state, and conversion to a skill's observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg

from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import Array, Observation
from llm_planner.robots.robots import CLOSED_WIDTH, OPEN_WIDTH, base_pose
from llm_planner.ros.base_node import BaseNode
from llm_planner.ros.conversions.base_messages import MAP_FRAME, odometry_from_msg
from llm_planner.ros.conversions.message_conversions import joint_state_from_msg
from llm_planner.ros.parameters import arm_of
from llm_planner.scene.scene import Scene, Vector3


@dataclass(frozen=True)
class RobotState:
    """Measured joints, `qpos` and `qvel` (nq,), at `time` [s]; gripper `width` [m], NaN if it is not measured."""

    time: float
    qpos: Array
    qvel: Array
    width: float = float("nan")


class ObservedArm:
    """Arm whose joint states give joints and gripper width."""

    topic, message_type = "joint_states", JointStateMsg

    def __init__(self, arm: ArmModel) -> None:
        self._arm, self.name, self.frame = arm, arm.name, arm.base
        self._kinematics = arm.kinematics()

    def state(self, message: JointStateMsg) -> RobotState:
        """Convert the robot's state message; raise InputError."""
        joints, width = joint_state_from_msg(message, self._arm.joints, self._arm.fingers)
        return RobotState(joints.time, joints.qpos, joints.qvel, width)

    def observation(self, state: RobotState, scene: Scene, origins: Mapping[str, Vector3]) -> Observation:
        """Return what a skill observes."""
        pose = self._kinematics.pose(state.qpos)
        return Observation(state.time, scene, tuple(state.qpos.tolist()), pose, state.width, origins)


class ObservedBase:
    """Mobile base; odometry gives its pose, the scene whether its gripper holds something."""

    topic, message_type, frame = "odom", Odometry, MAP_FRAME
    name = Scene.arm  # of no importance to a scene with rooms

    def state(self, message: Odometry) -> RobotState:
        """Convert the robot's state message; raise InputError."""
        state = odometry_from_msg(message)
        return RobotState(state.time, state.qpos, state.qvel)

    def observation(self, state: RobotState, scene: Scene, origins: Mapping[str, Vector3]) -> Observation:
        """Return what a skill observes."""
        x, y, yaw = state.qpos.tolist()
        width = CLOSED_WIDTH if scene.held else OPEN_WIDTH
        return Observation(state.time, scene, (x, y, yaw), base_pose(x, y, yaw), width, origins)


def observed_robot(node: BaseNode) -> ObservedArm | ObservedBase:
    """Return the robot that the parameter `robot` names; raise InputError."""
    arm = arm_of(node)
    return ObservedArm(arm) if arm else ObservedBase()
