"""Odometry and velocities of a mobile base."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from hypothesis import given
from hypothesis import strategies as st

from llm_planner.errors import InputError
from llm_planner.robots.motion import JointState
from llm_planner.ros.conversions.robot_messages import (
    in_base_frame,
    odometry_from_msg,
    odometry_to_msg,
    velocity_from_msg,
    velocity_to_msg,
)

number = st.floats(-10.0, 10.0)
states = st.builds(
    lambda time, x, y, yaw, qvel: JointState(time, np.array([x, y, yaw]), np.array(qvel)),
    st.floats(0.0, 2e9), number, number, st.floats(-3.1, 3.1), st.tuples(number, number, number),
)  # fmt: skip


@given(states)
def test_odometry_survives(state):
    back = odometry_from_msg(odometry_to_msg(state))
    assert back.qpos == pytest.approx(state.qpos, abs=1e-9)
    assert back.qvel == pytest.approx(state.qvel, abs=1e-9)
    assert back.time == pytest.approx(state.time, abs=1e-6)


def test_odometry_has_the_frames_that_ros_expects():
    message = odometry_to_msg(JointState(1.0, np.array([1.0, 2.0, math.pi / 2]), np.array([0.0, 0.5, 0.1])))
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_link")
    assert message.twist.twist.linear.x == pytest.approx(0.5), "it drives north and faces north: that is forward"
    assert message.twist.twist.angular.z == pytest.approx(0.1)


def test_a_velocity_of_the_map_is_turned_into_the_axes_of_the_base():
    north = JointState(0.0, np.array([0.0, 0.0, math.pi / 2]), np.array([0.3, 0.4, 0.1]))
    assert in_base_frame(north) == pytest.approx((0.4, -0.3, 0.1))


def test_a_velocity_survives():
    assert velocity_from_msg(velocity_to_msg((0.1, -0.2, 0.3))) == pytest.approx((0.1, -0.2, 0.3))


def test_numbers_that_are_not_finite_are_refused():
    twist = Twist()
    twist.linear.x = float("nan")
    with pytest.raises(InputError, match=r"cmd_vel holds \(nan, 0.0, 0.0\).* each must lie within ±20"):
        velocity_from_msg(twist)
    odometry = odometry_to_msg(JointState(1.0, np.zeros(3), np.zeros(3)))
    odometry.pose.pose.position.x = float("inf")
    with pytest.raises(InputError, match=r"odom is at .*it must lie within ±10000 m and go no faster than 20 m/s"):
        odometry_from_msg(odometry)
    odometry = odometry_to_msg(JointState(1.0, np.zeros(3), np.zeros(3)))
    odometry.twist.twist.linear.y = float("nan")
    with pytest.raises(InputError, match=r"odom is at .*it must lie within ±10000 m and go no faster than 20 m/s"):
        odometry_from_msg(odometry)
