"""Client that only stops the robot of a running system; it imports little, since a person waits for it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import rclpy
from llm_planner_interfaces.srv import StopRobot
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from llm_planner.errors import LlmPlannerError
from llm_planner.ros.idempotent_requests import ServiceCaller
from llm_planner.ros.other_systems import join_network
from llm_planner.ros.waiting import NoAnswerError

STOP_MAX = 5.0  # [s, wall time] for the response to a stop
REST_MAX = 2.0  # [s, wall time] after that response for the robot to come to rest
REST_SPEED = 0.02  # [rad/s, m/s] below which the robot counts as at rest
NO_SYSTEM = (
    "no running system answers. Start one with: llm-planner up   (the same ROS_DOMAIN_ID and "
    "ROS_AUTOMATIC_DISCOVERY_RANGE must be set here and there)"
)


class SystemUnreachableError(LlmPlannerError):
    """No running system answers, it stopped answering, or its robot still moves after a stop."""


@dataclass(frozen=True)
class StopResult:
    """Result of a stop: whether a plan was running, and a message if not."""

    was_running: bool
    message: str


class StopClient:
    """Stops the robot of a running system through `node`, which `executor` spins only while `stop` waits."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor) -> None:
        self._executor, self._service = executor, ServiceCaller(node, StopRobot, "stop")
        self._speeds: dict[str, float] = {}  # [rad/s, m/s] last measured: of the fastest joint, of a base
        node.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)
        node.create_subscription(Odometry, "odom", self._on_base, qos_profile_sensor_data)

    def stop(self, reason: str) -> StopResult:
        """Stop the robot and wait until it is at rest.

        Raises:
            SystemUnreachableError: The executor does not answer, or the robot keeps moving.
        """
        answer = self._service.call(StopRobot.Request(reason=reason), STOP_MAX, NO_SYSTEM)
        self._executor.spin_until_future_complete(answer, STOP_MAX + 1.0)
        if not answer.done():
            raise SystemUnreachableError(NO_SYSTEM)
        try:
            response = answer.result()
        except NoAnswerError as error:
            raise SystemUnreachableError(str(error)) from error
        deadline = time.monotonic() + REST_MAX
        while not self._speed <= REST_SPEED and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.05)
        if self._speed > REST_SPEED and self._speeds:
            raise SystemUnreachableError(
                f"the stop was taken, but the robot still moves at {self._speed:.2f} rad/s: use its emergency stop"
            )
        return StopResult(response.error_code == StopRobot.Response.STOPPED, response.error_msg)

    @property
    def _speed(self) -> float:
        """Speed of the arm or the base, whichever is faster [rad/s, m/s]; infinite before the first state."""
        return max(self._speeds.values(), default=math.inf)

    def _on_joints(self, message: JointState) -> None:
        if message.velocity:
            self._speeds["joints"] = max(map(abs, message.velocity))

    def _on_base(self, message: Odometry) -> None:
        twist = message.twist.twist
        self._speeds["base"] = max(abs(twist.linear.x), abs(twist.linear.y), abs(twist.angular.z))


def stop_robot(namespace: str, reason: str) -> StopResult:
    """Stop the robot of the system in `namespace` with a node of its own; errors are as in `StopClient.stop`."""
    context = Context()
    node = join_network(context, namespace)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        return StopClient(node, executor).stop(reason)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)
