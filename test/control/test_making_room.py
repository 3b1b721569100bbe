"""A clearance that grows beside a robot at rest is kept at every moment of its growth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.controlled_robot import base_spec
from llm_planner.control.formulation import sample
from llm_planner.control.motion_constraints import Patch
from llm_planner.control.mpc import BaseController
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.mobile_base import MOTOR_LAG
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.robots.robot_model import RobotModel
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PANDA = arm_model("panda")

SPARE = 0.03  # [m] between the robot and the thing at first
ASKED = 0.12  # [m] then
PERIOD = 0.01  # [s]


def distance(model: RobotModel, qpos: np.ndarray, zone: Zone) -> float:
    """Of the nearest link from the solid of `zone` [m]."""
    model.watch((zone,))
    pairs = np.array([(link, 0) for link in model.links])
    return float(model.nearness(model.postures(qpos[None]), pairs).distance.min())


def beside(model: RobotModel, qpos: np.ndarray, zone: Zone) -> Zone:
    """`zone`, put so far away along x that the robot stands `SPARE` from its solid."""
    near, far = 0.0, 3.0
    x, y, z = zone.pose.position
    while far - near > 1e-6:
        middle = 0.5 * (near + far)
        zone = replace(zone, pose=Pose((x + middle, y, z)))
        near, far = (middle, far) if distance(model, qpos, zone) < SPARE else (near, middle)
    return zone


def board_with(zone: Zone, **limits: float) -> ConstraintArbiter:
    """Asked now for the zone's clearance, under limits of before."""
    board = ConstraintArbiter()
    board.offered(Patch("the cook", -60.0, 60.0, **limits), -60.0)
    for k in range(200):
        board.at(-60.0 + 0.1 * k)
    board.offered(Patch("a rule", 0.0, 60.0, zones=(replace(zone, clearance=ASKED),)), 0.0)
    return board


@pytest.mark.parametrize("limits", [{}, {"speed": 0.15}, {"joint_share": 0.2}], ids=["free", "slow", "slow joints"])
def test_by_an_arm_that_stands(robot, limits):
    model = RobotModel(PANDA.collision_spec)
    here = Pose(tuple(model.postures(robot.qpos[None]).point[0].tolist()), (1.0, 0.0, 0.0, 0.0))
    ball = beside(model, robot.qpos, Zone("the ball", Shape.SPHERE, (0.05,), here))
    board, spare = board_with(ball, **limits), []
    for _ in range(400):
        in_force = board.at(robot.now, 0.0).zones[0].clearance
        robot.tick(MotionReference(robot.now, 0.05, (here,), 0.04), board.foreseen())
        spare.append(distance(model, robot.qpos, ball) - in_force)
    assert in_force == ASKED
    assert min(spare) > -0.001


def test_by_a_base_that_stands_and_whose_wheels_lag():
    model, controller = RobotModel(base_spec), BaseController()
    state = JointState(0.0, np.zeros(3), np.zeros(3))
    post = beside(model, state.qpos, Zone("the post", Shape.CYLINDER, (0.1, 0.5), Pose((0.0, 0.0, 0.5))))
    board, spare = board_with(post), []
    for k in range(300):
        now = PERIOD * k
        in_force = board.at(now, 0.0).zones[0].clearance
        reference = MotionReference(now, 0.05, (upright_pose(0.0, 0.0, 0.0),), 0.4)
        wanted = sample(controller.step(state, reference, now, board.foreseen()), now + PERIOD).qvel
        qvel = wanted + (state.qvel - wanted) * math.exp(-PERIOD / MOTOR_LAG)
        state = JointState(now + PERIOD, state.qpos + PERIOD * qvel, qvel)
        spare.append(distance(model, state.qpos, post) - in_force)
    assert in_force == ASKED
    assert min(spare) > -0.001
