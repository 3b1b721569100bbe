"""Client that only stops the robot of a running system; it imports little, since a person waits for it."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import rclpy
from llm_planner_interfaces.srv import StopRobot
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from llm_planner.errors import LlmPlannerError
from llm_planner.ros.idempotent_requests import ServiceCaller
from llm_planner.ros.node_executor import NodeExecutor
from llm_planner.ros.other_systems import join_network
from llm_planner.ros.waiting import NoAnswerError

STOP_MAX = 5.0  # [s, wall time] for the response to a stop
FOUND_MAX = 10.0  # [s, wall time] the same for a new process: DDS repeats an announcement that was lost after 3 s
REST_MAX = 2.0  # [s of the robot's time] after that response for it to come to rest; wall time if it is silent
STATES = ("joint_states", "odom")
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


class RestWatch:
    """Waits until the robot is at rest, in its own time: a simulation may run slower than the wall clock."""

    def __init__(self, wall: float) -> None:
        """Begin at `wall` [s, monotonic]."""
        self._speeds: dict[str, tuple[float, float]] = {}  # topic to the robot's time [s] and speed
        self._heard = wall
        self._first = self._last = math.nan  # [s] the robot's time

    @property
    def speed(self) -> float:
        """Last measured speed of the fastest joint or of a base [rad/s, m/s]; NaN before the first state."""
        return max((speed for _, speed in self._speeds.values()), default=math.nan)

    def see(self, time: float, speed: float, wall: float, topic: str = "joint_states") -> None:
        """Record the `speed` at the robot's `time` [s], heard at `wall` [s] on a topic."""
        if time == self._speeds.get(topic, (math.nan,))[0]:  # a robot whose clock stands is as good as silent
            return
        self._speeds[topic], self._heard, self._last = (time, speed), wall, time
        self._first = time if math.isnan(self._first) else self._first

    def waits(self, wall: float, topics: Collection[str] = ()) -> bool:
        """Return whether the robot still has to come to rest: it moves, for less than `REST_MAX`, and is heard of.

        It is at rest once each of `topics` says so: the arm on a base is silent of the base.
        """
        still = self.speed <= REST_SPEED and self._speeds.keys() >= set(topics)
        return not still and not self._last - self._first >= REST_MAX and wall - self._heard < REST_MAX


class StopClient:
    """Stops the robot of a running system through `node`, which `executor` spins only while `stop` waits.

    A stop is answered within `limit` [s, wall time], or not at all.
    """

    def __init__(self, node: Node, executor: NodeExecutor, limit: float = STOP_MAX) -> None:
        self._limit = limit
        self._node, self._executor, self._service = node, executor, ServiceCaller(node, StopRobot, "stop")
        self._rest = RestWatch(time.monotonic())
        node.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)
        node.create_subscription(Odometry, "odom", self._on_base, qos_profile_sensor_data)

    def stop(self, reason: str) -> StopResult:
        """Stop the robot and wait until it is at rest.

        Raises:
            SystemUnreachableError: The executor does not answer, or the robot keeps moving.
        """
        answer = self._service.call(StopRobot.Request(reason=reason), self._limit, NO_SYSTEM)
        self._executor.spin_until_future_complete(answer, self._limit + 1.0)
        if not answer.done():
            raise SystemUnreachableError(NO_SYSTEM)
        try:
            response = answer.result()
        except NoAnswerError as error:
            raise SystemUnreachableError(str(error)) from error
        rest = self._rest = RestWatch(time.monotonic())
        while rest.waits(time.monotonic(), [topic for topic in STATES if self._node.count_publishers(topic)]):
            self._executor.spin_once(timeout_sec=0.05)
        if rest.speed > REST_SPEED:
            raise SystemUnreachableError(
                f"the stop was taken, but {REST_MAX:g} s of the robot's time later it still moves at {rest.speed:.2f} "
                "rad/s: use its emergency stop"
            )
        return StopResult(response.error_code == StopRobot.Response.STOPPED, response.error_msg)

    def _on_joints(self, message: JointState) -> None:
        if message.velocity:
            self._see(message, message.velocity, "joint_states")

    def _on_base(self, message: Odometry) -> None:
        twist = message.twist.twist
        self._see(message, (twist.linear.x, twist.linear.y, twist.angular.z), "odom")

    def _see(self, message: JointState | Odometry, velocity: Sequence[float], topic: str) -> None:
        stamp = message.header.stamp
        self._rest.see(stamp.sec + 1e-9 * stamp.nanosec, max(map(abs, velocity)), time.monotonic(), topic)


def stop_robot(namespace: str, reason: str) -> StopResult:
    """Stop the robot of the system in `namespace` with a node of its own; errors are as in `StopClient.stop`."""
    context = Context()
    node = join_network(context, namespace)
    executor = NodeExecutor(context=context)
    executor.add_node(node)
    try:
        return StopClient(node, executor, FOUND_MAX).stop(reason)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)
