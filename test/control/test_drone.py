"""A point mass in the air under the same controller as the arm: it keeps out of solids and under a speed."""

import math

import numpy as np
import pytest

from llm_planner.control.controlled_robot import drone
from llm_planner.control.formulation import sample
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.mpc import MpcController, Status
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.robots.robots import RobotLimits
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

RADIUS = 0.25
LIMITS = RobotLimits(np.full(3, -50.0), np.full(3, 50.0), np.full(3, 3.0), np.full(3, 6.0), np.full(3, np.inf))
PILLAR = Zone("the pillar", Shape.CYLINDER, (0.3, 2.0), Pose((2.0, 0.02, 1.0)), 0.2)
BALLOON = Zone("the balloon", Shape.SPHERE, (0.4,), Pose((2.0, 0.0, 1.03)), 0.2)


def fly(controller: MpcController, seconds: float, constraints: MotionConstraints) -> list[JointState]:
    """The states of a drone that does what it is told, on its way from (0, 0, 1) to (4, 0, 1)."""
    states = [JointState(0.0, np.array([0.0, 0.0, 1.0]), np.zeros(3))]
    for _ in range(round(seconds / 0.02)):
        now = states[-1].time
        reference = MotionReference(now, 0.05, (Pose((4.0, 0.0, 1.0)),), 0.0)
        ahead = sample(controller.step(states[-1], reference, now, constraints), now + 0.02)
        states.append(JointState(now + 0.02, ahead.qpos, ahead.qvel))
    return states


def test_it_flies_where_it_is_told() -> None:
    states = fly(MpcController(robot=drone(LIMITS, RADIUS)), 4.0, MotionConstraints())
    assert states[-1].qpos == pytest.approx([4.0, 0.0, 1.0], abs=0.01)


@pytest.mark.parametrize("zone", [PILLAR, BALLOON], ids=lambda zone: zone.name)
def test_it_flies_round_a_solid(zone: Zone) -> None:
    controller = MpcController(robot=drone(LIMITS, RADIUS))
    states = fly(controller, 6.0, MotionConstraints(zones=(zone,)))
    across = slice(0, 2 if zone is PILLAR else 3)
    distances = [math.dist(state.qpos[across], zone.pose.position[across]) for state in states]
    assert min(distances) > zone.size[0] + zone.clearance + RADIUS
    assert states[-1].qpos == pytest.approx([4.0, 0.0, 1.0], abs=0.01)
    assert controller.statistics.status is Status.TRACKING


def test_its_speed_is_that_in_space() -> None:
    states = fly(MpcController(robot=drone(LIMITS, RADIUS)), 3.0, MotionConstraints(speed=0.8, zones=(BALLOON,)))
    speeds = [float(np.linalg.norm(state.qvel)) for state in states]
    assert 0.7 < max(speeds) <= 0.8 + 1e-3
