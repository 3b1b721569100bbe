"""The simulator's side of a mobile base: `cmd_vel` and `gripper_command` in, `odom` out, as bases have it."""

from __future__ import annotations

from dataclasses import replace

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64

from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.base_messages import BASE_FRAME, MAP_FRAME, Velocity, odometry_to_msg, velocity_from_msg
from llm_planner.nodes.shell import NEWEST_ONLY, RELIABLE, SENSOR_DATA, ShellNode
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.world.scene import Pose

PATIENCE = 0.5  # [s] without a cmd_vel after which the base stops by itself
STILL: Velocity = (0.0, 0.0, 0.0)


class SimulatedBase:
    """Steps the world while the base drives with the velocity that was last commanded, if that is recent."""

    frame = MAP_FRAME

    def __init__(self, node: ShellNode, world: RoomsWorld) -> None:
        self._node, self._world = node, world
        self._odometry = node.create_lifecycle_publisher(Odometry, "odom", SENSOR_DATA)
        node.create_subscription(Twist, "cmd_vel", self._on_velocity, NEWEST_ONLY)
        node.create_subscription(Float64, "gripper_command", self._on_gripper, RELIABLE)
        self.restart(0.0)

    def restart(self, epoch: float) -> None:
        """The world was laid out anew; its time 0 is the stamp `epoch` [s]."""
        self._epoch, self._velocity, self._heard = epoch, STILL, 0.0

    def advance(self, duration: float) -> None:
        """Step for `duration` [s]."""
        silent = self._world.time > self._heard + PATIENCE
        self._world.drive(STILL if silent else self._velocity, duration)

    def publish(self) -> None:
        """Where the base is and how fast it drives; its wheels never slip, so the odometry's frame is the map's."""
        state = self._world.joint_state()
        self._odometry.publish(odometry_to_msg(replace(state, time=self._epoch + state.time)))

    def frames(self) -> dict[str, Pose]:
        """The robot's own frames, in `frame`."""
        robot = self._world.scene().robot
        return {BASE_FRAME: robot} if robot else {}

    def _on_velocity(self, message: Twist) -> None:
        try:
            self._velocity, self._heard = velocity_from_msg(message), self._world.time
        except LlmPlannerError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)

    def _on_gripper(self, message: Float64) -> None:
        self._world.grip(message.data)
