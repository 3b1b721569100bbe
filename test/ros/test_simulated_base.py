"""What the simulated base does with old, wrong and missing velocities; node and world are fakes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from geometry_msgs.msg import Twist, TwistStamped

from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.simulated_robots import STILL, SimulatedBase
from test.ros.fake_node import FakeNode

EPOCH, TIMEOUT = 1000.0, 0.2
FORWARD = (0.5, 0.0, 0.0)


@dataclass
class FakeWorld:
    time: float = 0.0
    driven: tuple[float, ...] = STILL

    def drive(self, velocity, duration: float) -> None:
        self.driven, self.time = velocity, self.time + duration


class Base:
    def __init__(self, stamped: bool = True) -> None:
        self.node, self.world = FakeNode({"enable_stamped_cmd_vel": stamped, "cmd_vel_timeout": TIMEOUT}), FakeWorld()
        self.robot = SimulatedBase(self.node, self.world)
        self.robot.restart(EPOCH)
        self.world.time = 5.0

    def told(self, velocity, age: float = 0.0) -> None:
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = velocity
        stamped = TwistStamped(header=header(EPOCH + self.world.time - age, "base_link"), twist=twist)
        self.node.heard["cmd_vel"](stamped if self.node.setting("enable_stamped_cmd_vel") else twist)

    def drives(self, seconds: float) -> list[tuple[float, ...]]:
        driven = []
        for _ in range(round(seconds / 0.01)):
            self.robot.advance(0.01)
            driven.append(self.world.driven)
        return driven


@pytest.mark.parametrize("stamped", [True, False])
def test_a_velocity_holds_for_the_timeout_and_then_the_base_brakes(stamped):
    base = Base(stamped)
    base.told(FORWARD)
    driven = base.drives(0.4)
    assert driven[18] == FORWARD
    assert driven[23] == STILL


def test_a_velocity_that_comes_late_holds_for_what_is_left_of_the_timeout():
    base = Base()
    base.told(FORWARD, age=0.15)
    driven = base.drives(0.2)
    assert driven[3] == FORWARD
    assert driven[8] == STILL


@pytest.mark.parametrize("age", [0.3, -0.3])
def test_a_velocity_of_another_time_is_refused_and_the_last_one_goes_on_to_its_timeout(age):
    base = Base()
    base.told(FORWARD)
    base.told((1.0, 0.0, 0.0), age)
    assert "cmd_vel refused: its stamp is" in base.node.log[0]
    driven = base.drives(0.4)
    assert driven[0] == FORWARD
    assert driven[-1] == STILL


def test_a_velocity_that_is_no_number_brakes():
    base = Base()
    base.told(FORWARD)
    base.told((float("nan"), 0.0, 0.0))
    assert base.drives(0.01) == [STILL]
    assert "the base brakes" in base.node.log[0]
