"""ROS interfaces of the simulated robots.

The arm subscribes to `joint_command` and publishes `joint_states`. The base subscribes to `cmd_vel` and
`gripper_command` and publishes `odom`. An arm on a mobile base has both, with the gripper in `joint_command`. As in
ros2_control, a velocity expires `cmd_vel_timeout` after its stamp (after its arrival if it has none); then the base
brakes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.formulation import end_time, hold
from llm_planner.errors import LlmPlannerError
from llm_planner.robots.mobile_base import MOBILE_BASE
from llm_planner.robots.motion import JointTrajectory as Trajectory
from llm_planner.robots.robot_description import base_description, robot_description
from llm_planner.robots.urdf import LinkFrame, LinkFrames
from llm_planner.ros.base_node import NEWEST_ONLY, RELIABLE, SENSOR_DATA, STATES, BaseNode
from llm_planner.ros.conversions.message_checks import seconds, validated
from llm_planner.ros.conversions.robot_messages import (
    BASE_LINK,
    MAP_FRAME,
    ODOM_FRAME,
    Velocity,
    in_map_frame,
    joint_state_to_msg,
    odometry_to_msg,
    trajectory_from_bytes,
    velocity_from_msg,
    width_from_msg,
)
from llm_planner.ros.parameters import CMD_VEL_TIMEOUT, STAMPED_CMD_VEL
from llm_planner.ros.transforms import frame_prefix, prefixed
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.scene import Pose
from llm_planner.simulation.arm_drive import CommandQueue, Pace, RateLimiter
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.two_tables import DrivenBaseWorld, TwoTables
from llm_planner.simulation.world import World

STANDING = 0.01  # [rad/s, m/s] below which a robot stands still
BEYOND = 0.01  # [rad] tolerance at the ends of a joint's range


class SimulatedArm:
    """Steps the world while the arm's joints follow the last command.

    The names of its topics and frames begin with `prefix`, "" or a namespace such as "left/".
    """

    def __init__(self, node: BaseNode, world: World, prefix: str = "") -> None:
        self._node, self.world, self.prefix = node, world, prefix
        self.frame_prefix = frame_prefix(node, prefix)
        self.frame = self.frame_prefix + world.arm.frame
        self.urdf = robot_description(world.arm)
        self._links = LinkFrames(self.urdf)
        self._epoch = 0.0
        limits = world.limits
        self._middle, self._half = (limits.qpos_max + limits.qpos_min) / 2, (limits.qpos_max - limits.qpos_min) / 2
        self.pace = Pace()
        self.range_share = 0.0  # largest deviation of a joint from its middle, as a share of half its range
        self._joint_states = node.create_lifecycle_publisher(JointState, prefix + "joint_states", STATES)
        commanded = validated(node, lambda message: trajectory_from_bytes(message, world.arm), self._on_command)
        # A deep queue, since each command continues the one before.
        node.create_subscription(JointTrajectory, prefix + "joint_command", commanded, SENSOR_DATA, raw=True)

    @property
    def stands(self) -> bool:
        """Whether the robot stands still, and no command moves it."""
        moves = np.abs(self.world.joint_state().qvel).max() > STANDING or self.world.time < self._moves_until
        return not moves and not self._fingers_move

    def restart(self, epoch: float) -> None:
        """Reset commands after a reset of the world; its time 0 is the stamp `epoch` [s]."""
        world, self._epoch = self.world, epoch
        self._moves_until, self._fingers_move = 0.0, False
        self._commands = CommandQueue(hold(world.joint_state().qpos, 0.0, 0.1, world.gripper_width()))
        self._limiter = RateLimiter(world.limits, world.joint_state().qpos)

    def advance(self, duration: float) -> None:
        """Step the world by `duration` [s]."""
        now, width = self.world.time, self.world.gripper_width()
        self.world.follow(self._limiter.advance(self._commands.at, now, duration), duration)
        self._fingers_move = abs(self.world.gripper_width() - width) > STANDING * duration

    def publish(self) -> None:
        """Publish the state of the robot."""
        state = self.world.joint_state()
        self.range_share = max(self.range_share, float((abs(state.qpos - self._middle) / self._half).max()))
        state = replace(state, time=self._epoch + state.time)
        message = joint_state_to_msg(state, self.world.gripper_width(), self.world.arm)
        message.header.frame_id = self.frame
        self._joint_states.publish(message)

    def static_frames(self) -> list[LinkFrame]:
        """Return the frames that never move: fixed links, and a base that is not at `frame`."""
        arm = self.world.arm
        mounted = [] if arm.base == arm.frame else [LinkFrame(arm.frame, arm.base, arm.mounting.pose())]
        return prefixed(self.frame_prefix, [*mounted, *self._links.fixed])

    def moving_frames(self) -> list[LinkFrame]:
        """Return the frames that move, where they are now."""
        arm, half = self.world.arm, self.world.gripper_width() / 2
        positions = dict(zip(arm.joints, self.world.joint_state().qpos.tolist(), strict=True))
        return prefixed(self.frame_prefix, self._links.moving(positions | dict.fromkeys(arm.fingers, half)))

    def _on_command(self, trajectory: Trajectory) -> None:
        limits = self.world.limits
        if (trajectory.qpos < limits.qpos_min - BEYOND).any() or (trajectory.qpos > limits.qpos_max + BEYOND).any():
            self._node.get_logger().error(
                "joint_command refused: it leads a joint beyond its range", throttle_duration_sec=5.0
            )
            return
        now = self.world.time
        if trajectory.gripper_width != trajectory.gripper_width:  # NaN: keep the width
            trajectory = replace(trajectory, gripper_width=self._commands.at(now).gripper_width)
        trajectory = replace(trajectory, start_time=trajectory.start_time - self._epoch)
        self.pace.heard(now, trajectory.start_time)
        why = self._commands.refusal(trajectory, now, self.world.joint_state().qpos)
        if why:
            self._node.get_logger().warning(f"joint_command refused: {why}", throttle_duration_sec=1.0)
            return
        self._commands.add(trajectory, now)
        if np.abs(trajectory.qvel).max() > 0.0:
            self._moves_until = end_time(trajectory)


class SimulatedMobileArm(SimulatedArm):
    """Steps the world while the arm follows `joint_command` and its base `cmd_vel`, both at once if so commanded."""

    def __init__(self, node: BaseNode, world: TwoTables) -> None:
        super().__init__(node, world)
        self._wheels, self._base = world, SimulatedBase(node, world.base, self.pace)

    def restart(self, epoch: float) -> None:
        super().restart(epoch)
        self._base.restart(epoch)

    def advance(self, duration: float) -> None:
        yaw = float(self._wheels.base_state().qpos[2])
        self._wheels.wheels = np.array(in_map_frame(self._base.velocity, yaw))
        super().advance(duration)

    @property
    def stands(self) -> bool:
        return super().stands and self._base.stands

    def publish(self) -> None:
        super().publish()
        self._base.publish()

    def static_frames(self) -> list[LinkFrame]:
        return [*self._base.static_frames(), *super().static_frames()]

    def moving_frames(self) -> list[LinkFrame]:
        return [*self._base.moving_frames(), *super().moving_frames()]


SOON = 0.05  # [s] age up to which a velocity counts as on time
STILL: Velocity = (0.0, 0.0, 0.0)


class SimulatedBase:
    """Steps the world while the base drives at the last commanded velocity until that expires, as `SimulatedArm`."""

    frame = MAP_FRAME
    range_share = 0.0  # a base has no joint range

    def __init__(
        self, node: BaseNode, world: RoomsWorld | DrivenBaseWorld, pace: Pace | None = None, prefix: str = ""
    ) -> None:
        """Subscribe to commands; `pace` is that of the arm that the base carries, None for a robot of its own."""
        self._node, self.world, self.prefix = node, world, prefix
        self.pace = pace or Pace()
        self.frame_prefix, self._link = frame_prefix(node, prefix), MOBILE_BASE if pace else BASE_LINK
        self.urdf = base_description(BASE_LINK)
        self._odometry = node.create_lifecycle_publisher(Odometry, prefix + "odom", STATES)
        self._timeout = node.setting(CMD_VEL_TIMEOUT.name)
        if node.setting(STAMPED_CMD_VEL.name):
            node.create_subscription(TwistStamped, prefix + "cmd_vel", self._on_stamped, NEWEST_ONLY)
        else:
            node.create_subscription(
                Twist, prefix + "cmd_vel", lambda twist: self._take(twist, world.time), NEWEST_ONLY
            )
        if pace is None:
            gripped = validated(node, width_from_msg, lambda width: world.grip(width))
            node.create_subscription(Float64, prefix + "gripper_command", gripped, RELIABLE)
        self.restart(0.0)

    def restart(self, epoch: float) -> None:
        self._epoch, self._velocity, self._until = epoch, STILL, 0.0

    @property
    def stands(self) -> bool:
        return not any(self.velocity) and bool(np.abs(self.world.joint_state().qvel).max() <= STANDING)

    @property
    def velocity(self) -> Velocity:
        """Velocity in force: the last commanded one until it expires."""
        return self._velocity if self.world.time <= self._until else STILL

    def advance(self, duration: float) -> None:
        self.world.drive(self.velocity, duration)

    def publish(self) -> None:
        state = self.world.joint_state()
        state = replace(state, time=self._epoch + state.time)
        self._odometry.publish(odometry_to_msg(state, self.frame_prefix, self._link))

    def static_frames(self) -> list[LinkFrame]:
        # Simulated wheels never slip, so the odometry frame stays in the map.
        return [LinkFrame(MAP_FRAME, self.frame_prefix + ODOM_FRAME, Pose((0.0, 0.0, 0.0)))]

    def moving_frames(self) -> list[LinkFrame]:
        at = upright_pose(*self.world.joint_state().qpos.tolist())
        return prefixed(self.frame_prefix, [LinkFrame(ODOM_FRAME, self._link, at)])

    def _on_stamped(self, message: TwistStamped) -> None:
        since = seconds(message.header.stamp) - self._epoch
        age = self.world.time - since
        self.pace.heard(self.world.time, since + SOON)
        if abs(age) > self._timeout:
            self._node.get_logger().warning(
                f"cmd_vel refused: its stamp is {age:.2f} s old; cmd_vel_timeout is {self._timeout} s, either way",
                throttle_duration_sec=1.0,
            )
            return
        self._take(message.twist, since)

    def _take(self, twist: Twist, since: float) -> None:
        """Drive at this velocity until `cmd_vel_timeout` after `since` [s]; brake if it is invalid."""
        try:
            self._velocity, self._until = velocity_from_msg(twist), since + self._timeout
        except LlmPlannerError as error:
            self._velocity = STILL
            self._node.get_logger().error(f"{error}; the base brakes", throttle_duration_sec=5.0)
