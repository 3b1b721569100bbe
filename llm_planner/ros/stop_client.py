"""Client that only stops the robot of a running system; it imports little, since a person waits for it."""

from __future__ import annotations

import math
import time

import rclpy
from llm_planner_interfaces.srv import StopRobot
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
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


class NotStoppedError(LlmPlannerError):
    """No running system answers, or its robot still moves."""


def stop_robot(namespace: str, reason: str) -> tuple[bool, str]:
    """Stop the robot of the running system in `namespace`, and wait until it is at rest.

    Returns:
        Whether a plan was running, and a message if not.

    Raises:
        NotStoppedError: The system does not answer, or the robot keeps moving.
    """
    context = Context()
    node = join_network(context, namespace)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    speed = _Speed()
    node.create_subscription(JointState, "joint_states", speed.of_joints, qos_profile_sensor_data)
    node.create_subscription(Odometry, "odom", speed.of_base, qos_profile_sensor_data)
    try:
        answer = ServiceCaller(node, StopRobot, "stop").call(StopRobot.Request(reason=reason), STOP_MAX, NO_SYSTEM)
        executor.spin_until_future_complete(answer, STOP_MAX + 1.0)
        response = _response(answer)
        deadline = time.monotonic() + REST_MAX
        while not speed.now <= REST_SPEED and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown(context=context)
    if speed.now > REST_SPEED:
        raise NotStoppedError(
            f"the stop was taken, but the robot still moves at {speed.now:.2f} rad/s: use its emergency stop"
        )
    return response.error_code == StopRobot.Response.STOPPED, response.error_msg


class _Speed:
    """Last measured speed of the fastest joint [rad/s], or of a base [m/s, rad/s]; NaN before it is heard."""

    now = math.nan

    def of_joints(self, message: JointState) -> None:
        if message.velocity:
            self.now = max(map(abs, message.velocity))

    def of_base(self, message: Odometry) -> None:
        twist = message.twist.twist
        self.now = max(abs(twist.linear.x), abs(twist.linear.y), abs(twist.angular.z))


def _response(answer: rclpy.task.Future) -> StopRobot.Response:
    if not answer.done():
        raise NotStoppedError(NO_SYSTEM)
    try:
        return answer.result()
    except NoAnswerError as error:
        raise NotStoppedError(str(error)) from error
