"""What a node makes of odometry and scene of the base under an arm; the node is a fake."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.motion import JointState
from llm_planner.robots.robot_model import tucked_footprint
from llm_planner.ros.arm_context import BaseUnderArm
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, DrivenBase, Pose, Room, Scene, SceneObject
from llm_planner.scene.zones import Shape, Zone
from test.ros.fake_node import FakeNode

ARM = arm_model("mobile_ur5e")
ROOM = Building((Room("room", Rectangle(-3.0, 3.0, -3.0, 3.0)),), ())
TABLE = SceneObject("table", "table", "", (0.6, 0.0, -0.31), IDENTITY, (0.5, 0.9, 0.62))
SCENE = Scene(5.0, (TABLE,), robot=Pose(ARM.shape.rest), base=DrivenBase(Pose((1.0, 0.0, 0.0)), 0.05, (0.3, 0.7), ROOM))
BALL = Zone("the ball", Shape.SPHERE, (0.1,), Pose((1.0, 1.0, 0.2)), 0.1)
STILL = JointState(5.0, np.array(ARM.home), np.zeros(ARM.nq))


@pytest.fixture
def below() -> BaseUnderArm:
    node = FakeNode()
    made = BaseUnderArm(node, ARM)
    node.heard["scene"](scene_to_msg(SCENE, "base_link"))
    return made


def standing(x: float, y: float, yaw: float, speed: float = 0.0) -> JointState:
    return JointState(5.0, np.array([x, y, yaw]), np.array([speed, 0.0, 0.0]))


def test_a_zone_of_the_map_is_where_the_arm_sees_it(below):
    below.state = standing(1.0, 0.0, math.pi / 2)
    (zone,) = below.of_arm(MotionConstraints(zones=(BALL,))).zones
    assert zone.pose.position == pytest.approx((0.95, 0.0, 0.2))
    below.state = standing(0.0, 1.0, 0.0)
    (zone,) = below.of_arm(MotionConstraints(zones=(BALL,))).zones
    assert zone.pose.position == pytest.approx((0.95, 0.0, 0.2))


def test_the_base_keeps_off_zones_tables_and_walls_in_the_map(below):
    zones = below.of_base(MotionConstraints(zones=(BALL,))).zones
    places = {zone.name: zone.pose.position[:2] for zone in zones}
    assert places["the ball"] == pytest.approx(BALL.pose.position[:2])
    assert places["table"] == pytest.approx((1.0 + 0.05 + 0.6, 0.0))
    assert sum(zone.name == "a wall" for zone in zones) == 4


def test_what_the_tucked_arm_meets_is_kept_farther_off(below):
    high = replace(BALL, name="high", pose=Pose((1.0, 1.0, 0.5)))
    clearance = {zone.name: zone.clearance for zone in below.of_base(MotionConstraints(zones=(BALL, high))).zones}
    assert clearance["the ball"] == BALL.clearance
    assert clearance["high"] == pytest.approx(BALL.clearance + tucked_footprint(ARM.name).radius - BASE_RADIUS)


def test_a_speed_limit_holds_for_the_base_too(below):
    limited = below.of_base(MotionConstraints(speed=0.1))
    assert limited.speed == 0.1
    assert limited.joint_share < below.of_base(FREE).joint_share == 1.0


def test_one_of_arm_and_base_moves_at_a_time(below):
    below.state, rest = standing(1.0, 0.0, 0.0), ARM.shape.rest
    reaching = JointState(5.0, STILL.qpos, np.full(ARM.nq, 0.2))
    assert below.interlock(True, STILL, rest) == below.interlock(False, reaching, rest) == ""
    assert "tucked and at rest" in below.interlock(True, reaching, rest)
    assert "tucked and at rest" in below.interlock(True, STILL, (0.5, 0.0, 0.2))
    below.state = standing(1.0, 0.0, 0.0, speed=0.3)
    assert "while its base drives" in below.interlock(False, STILL, rest)
    assert below.interlock(True, STILL, rest) == ""


def test_nothing_moves_before_everything_is_measured(below):
    assert "missing: ['odom']" in below.interlock(False, STILL, ARM.shape.rest)
    below.state = standing(1.0, 0.0, 0.0)
    assert "missing: ['joints']" in below.interlock(False, None, None)
