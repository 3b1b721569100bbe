"""The simulator's side of an arm: `joint_command` in, `joint_states` out."""

from __future__ import annotations

from dataclasses import replace

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.fallback import hold
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.message_conversions import BASE_FRAME, joint_state_to_msg, trajectory_from_msg
from llm_planner.nodes.shell import SENSOR_DATA, ShellNode
from llm_planner.simulation.command_queue import CommandQueue
from llm_planner.simulation.pace import Pace
from llm_planner.simulation.rate_limiter import RateLimiter
from llm_planner.simulation.world import World
from llm_planner.world.scene import Pose

BEYOND = 0.01  # [rad] out of a joint's range that counts as rounding


class SimulatedArm:
    """Steps the world while its joints follow what was last commanded."""

    frame = BASE_FRAME

    def __init__(self, node: ShellNode, world: World) -> None:
        self._node, self._world = node, world
        self._epoch = 0.0
        limits = world.limits
        self._middle, self._half = (limits.qpos_max + limits.qpos_min) / 2, (limits.qpos_max - limits.qpos_min) / 2
        self.pace = Pace()
        self.range_share = 0.0  # the largest part of half its range that a joint was from the middle
        self._joint_states = node.create_lifecycle_publisher(JointState, "joint_states", SENSOR_DATA)
        node.create_subscription(
            JointTrajectory, "joint_command", self._on_command, SENSOR_DATA
        )  # each leads on from the one before

    def restart(self, epoch: float) -> None:
        """The world was laid out anew; its time 0 is the stamp `epoch` [s]."""
        world, self._epoch = self._world, epoch
        self._commands = CommandQueue(hold(world.joint_state().qpos, 0.0, 0.1, world.gripper_width()))
        self._limiter = RateLimiter(world.limits, world.joint_state().qpos)

    def advance(self, duration: float) -> None:
        """Step for `duration` [s]."""
        now = self._world.time
        self._world.follow(self._limiter.advance(self._commands.at, now, duration), duration)

    def publish(self) -> None:
        """Where the joints are."""
        state = self._world.joint_state()
        self.range_share = max(self.range_share, float((abs(state.qpos - self._middle) / self._half).max()))
        state = replace(state, time=self._epoch + state.time)
        self._joint_states.publish(joint_state_to_msg(state, self._world.gripper_width()))

    def frames(self) -> dict[str, Pose]:
        """The robot's own frames, in `frame`."""
        return {"gripper": self._world.gripper_pose()}

    def _on_command(self, message: JointTrajectory) -> None:
        try:
            trajectory = trajectory_from_msg(message)
        except LlmPlannerError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        limits = self._world.limits
        if (trajectory.qpos < limits.qpos_min - BEYOND).any() or (trajectory.qpos > limits.qpos_max + BEYOND).any():
            self._node.get_logger().error(
                "joint_command refused: it leads a joint beyond its range", throttle_duration_sec=5.0
            )
            return
        now = self._world.time
        if trajectory.gripper_width != trajectory.gripper_width:  # not a number: the fingers stay
            trajectory = replace(trajectory, gripper_width=self._commands.at(now).gripper_width)
        trajectory = replace(trajectory, start_time=trajectory.start_time - self._epoch)
        self.pace.heard(now - trajectory.start_time)
        why = self._commands.refusal(trajectory, now, self._world.joint_state().qpos)
        if why:
            self._node.get_logger().warning(f"joint_command refused: {why}", throttle_duration_sec=1.0)
            return
        self._commands.add(trajectory, now)
