"""What the safety filter passes on to the base under an arm: nothing while the arm moves, reaches or is silent."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import Twist

from llm_planner.control.motion_constraints import FREE
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState
from llm_planner.ros.arm_context import BaseUnderArm
from llm_planner.ros.conversions.robot_messages import odometry_to_msg
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.ros.filtered_robots import FilteredBaseUnderArm
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, DrivenBase, Pose, Room, Scene
from test.ros.fake_node import FakeNode

ARM = arm_model("mobile_ur5e")
ROOM = Building((Room("room", Rectangle(-3.0, 3.0, -3.0, 3.0)),), ())
SCENE = Scene(5.0, (), robot=Pose(ARM.shape.rest), base=DrivenBase(Pose((0.0, 0.0, 0.0)), 0.05, (0.3, 0.7), ROOM))
FORWARD = Twist()
FORWARD.linear.x = 0.2


PARAMETERS = {"lead": 0.02, "cmd_vel_timeout": 0.2, "enable_stamped_cmd_vel": True}


class FakeArm:
    """Tucked and at rest, until a test says otherwise."""

    def __init__(self) -> None:
        self.here, self.place = JointState(5.0, np.array(ARM.home), np.zeros(ARM.nq)), ARM.shape.rest

    def hand(self, state):
        return self.place


class Driving:
    """The filter of the base, which is told to drive forward for a moment."""

    def __init__(self) -> None:
        self.node, self.arm, self.flaws, self._time = FakeNode(PARAMETERS), FakeArm(), [], 5.0
        below = BaseUnderArm(self.node, ARM)
        self.node.heard["scene"](scene_to_msg(SCENE, ARM.frame))
        self.filter = FilteredBaseUnderArm(self.node, below, self.arm, self._brake, wall=lambda: self._time)
        self.filter.keep = FREE

    def _brake(self, why: str) -> None:
        self.flaws.append(why)
        self.filter.brake()

    def drive(self, seconds: float = 0.3) -> float:
        """Return the velocity that is commanded in the end [m/s]."""
        for _ in range(round(seconds / 0.01)):
            self._time += 0.01
            self.node.heard["odom"](odometry_to_msg(JointState(self._time, np.zeros(3), np.zeros(3))))
            self.node.heard["cmd_vel_wanted"](FORWARD)
        sent = self.node.sent["cmd_vel"]
        return sent[-1].twist.linear.x if sent else 0.0


@pytest.fixture
def driving() -> Driving:
    return Driving()


def test_under_a_tucked_arm_at_rest_it_drives(driving):
    assert driving.drive() == pytest.approx(0.2)
    assert not driving.flaws


def test_once_the_arm_moves_it_brakes(driving):
    driving.drive()
    driving.arm.here = JointState(5.3, np.array(ARM.home), np.full(ARM.nq, 0.2))
    assert driving.drive() == 0.0
    assert "before its arm is tucked and at rest" in driving.flaws[-1]


def test_under_an_arm_that_reaches_out_it_stands(driving):
    driving.arm.place = (0.6, 0.0, 0.3)
    assert driving.drive() == 0.0


def test_it_stands_without_states_of_the_arm(driving):
    assert driving.drive(1.0) == 0.0
    assert "missing: ['joints']" in driving.flaws[-1]


def test_without_constraints_nothing_is_passed_on(driving):
    driving.filter.keep = None
    driving.node.sent["cmd_vel"].clear()
    assert driving.drive() == 0.0
    assert driving.node.sent["cmd_vel"] == []
