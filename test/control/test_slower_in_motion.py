"""A patch that tightens the speed of a moving arm is obeyed in time, and without breaking what else it has to keep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.envelope import Envelope
from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import ArmKinematics
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.scene import Pose

FAST = 0.5  # [m/s] of the reference, in a circle
SLOW = 0.15
CENTRE, RADIUS = (0.5, 0.0, 0.4), 0.15  # [m]
DOWN = (1.0, 0.0, 0.0, 0.0)


def circling(now: float) -> MotionReference:
    """Half a second of the way round."""
    x, y, z = CENTRE
    angles = [FAST / RADIUS * (now + 0.05 * k) for k in range(11)]
    poses = tuple(Pose((x + RADIUS * math.cos(a), y + RADIUS * math.sin(a), z), DOWN) for a in angles)
    return MotionReference(now, 0.05, poses, 0.04)


@pytest.mark.parametrize("envelope", [Envelope(), Envelope(speed=FAST, largest_speed=FAST)], ids=["free", "bounded"])
def test_from_half_a_metre_a_second_to_fifteen_centimetres_within_a_quarter_second(robot, arm: ArmKinematics, envelope):
    board = ConstraintArbiter(envelope)

    def speed() -> float:
        return float(np.linalg.norm(arm.jacobian(robot.qpos)[2][:3] @ robot.qvel))

    def run(seconds: float) -> list[float]:
        speeds = []
        for _ in range(round(seconds / 0.01)):
            robot.tick(circling(robot.now), board.at(robot.now, speed()))
            speeds.append(speed())
        return speeds

    assert run(2.0)[-1] > 0.45
    assert board.offered(Patch("a person", robot.now, robot.now + 60.0, speed=SLOW), robot.now).accepted
    slowing = run(2.0)
    assert max(slowing[25:]) < 0.165
    assert np.max(robot.accelerations) <= 1.0
