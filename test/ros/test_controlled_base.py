"""The controller's side of a mobile base: what it does about odometry that is no numbers; the node is a fake."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from llm_planner.control.envelope import FROM_THE_ROBOT
from llm_planner.control.fallback_supervisor import FallbackLevel, FallbackSupervisor
from llm_planner.control.input_validation import InputValidator
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.ros.controlled_robots import ControlledBase
from llm_planner.ros.conversions.robot_messages import odometry_to_msg
from llm_planner.scene.geometry import upright_pose
from test.ros.fake_node import FakeNode

PERIOD = 0.02  # [s]


class Driving:
    """A base on its way to a far place, that does what it is told."""

    def __init__(self) -> None:
        self.node = FakeNode()
        self.robot = ControlledBase(self.node, FROM_THE_ROBOT)
        self.supervisor = FallbackSupervisor(self.robot.controller, InputValidator(self.robot.expected(1.0)))
        self.state = JointState(1.0, np.zeros(3), np.zeros(3))

    def tick(self, odometry: Odometry) -> Twist:
        now, wanted = (
            self.state.time,
            MotionReference(self.state.time, 0.05, (upright_pose(9.0, 0.0, 0.0),), 0.4, epoch=1),
        )
        self.supervisor.follow(wanted)
        plan = self.supervisor.step(self.robot.state(odometry), now, now)
        self.robot.send(plan, self.supervisor.state, now)
        told = self.node.sent["cmd_vel_wanted"][-1]
        qvel = np.array([told.linear.x, told.linear.y, told.angular.z])
        self.state = JointState(now + PERIOD, self.state.qpos + PERIOD * qvel, qvel)
        return told


def position(message: Odometry) -> None:
    message.pose.pose.position.x = math.nan


def heading(message: Odometry) -> None:
    message.pose.pose.orientation.z = math.nan


def velocity(message: Odometry) -> None:
    message.twist.twist.linear.x = math.inf


@pytest.mark.parametrize("spoil", [position, heading, velocity])
def test_odometry_that_is_no_numbers_holds_the_base_at_once(spoil):
    driving = Driving()
    for _ in range(50):
        told = driving.tick(odometry_to_msg(driving.state))
    assert told.linear.x > 0.5
    speeds = []
    for _ in range(50):
        odometry = odometry_to_msg(driving.state)
        spoil(odometry)
        speeds.append(driving.tick(odometry).linear.x)
    assert speeds[0] < told.linear.x
    assert speeds == sorted(speeds, reverse=True)
    assert (speeds[-1], driving.supervisor.status.level) == (0.0, FallbackLevel.STOPPED)
    assert "in the robot's state are not all finite" in driving.supervisor.status.reason
