"""The controller's side of each robot: the topic that its state comes on, and how a plan is sent to it."""

from __future__ import annotations

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.base import BaseController
from llm_planner.control.fallback import sample
from llm_planner.control.mpc import MpcController, MpcSettings
from llm_planner.control.reference import JointState, JointTrajectory
from llm_planner.nodes.base_messages import in_base_frame, odometry_from_msg, velocity_to_msg
from llm_planner.nodes.message_conversions import joint_state_from_msg, trajectory_to_msg
from llm_planner.nodes.shell import RELIABLE, ShellNode


class ControlledArm:
    """Joint states in, joint trajectories out."""

    topic, message_type = "joint_states", JointStateMsg

    def __init__(self, node: ShellNode, time_limit: float) -> None:
        self.controller = MpcController(MpcSettings(time_limit=time_limit))
        self._command = node.create_lifecycle_publisher(JointTrajectoryMsg, "joint_command", 1)

    def state(self, message: JointStateMsg) -> JointState:
        """Raises InputError."""
        return joint_state_from_msg(message)[0]

    def send(self, plan: JointTrajectory, state: JointState) -> None:
        """The whole plan: an arm follows it to its end if it hears nothing more."""
        self._command.publish(trajectory_to_msg(plan))


class ControlledBase:
    """Odometry in, velocities out."""

    topic, message_type = "odom", Odometry

    def __init__(self, node: ShellNode, time_limit: float) -> None:
        self.controller = BaseController()
        self._width = float("nan")
        self._velocity = node.create_lifecycle_publisher(Twist, "cmd_vel", 1)
        self._gripper = node.create_lifecycle_publisher(Float64, "gripper_command", RELIABLE)

    def state(self, message: Odometry) -> JointState:
        """Raises InputError."""
        return odometry_from_msg(message)

    def send(self, plan: JointTrajectory, state: JointState) -> None:
        """The velocity that the plan begins with, along the axes of the base; a new width for the fingers once."""
        velocity = sample(plan, plan.start_time + plan.dt).qvel
        self._velocity.publish(velocity_to_msg(in_base_frame(JointState(state.time, state.qpos, velocity))))
        width = plan.gripper_width
        if width == width and width != self._width:  # a number, and a new one
            self._width = width
            self._gripper.publish(Float64(data=width))


CONTROLLED = {"arm": ControlledArm, "mobile": ControlledBase}
