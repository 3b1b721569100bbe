"""Weights may jump in full motion: they change what a plan strives for, and nothing of what it keeps."""

from __future__ import annotations

import numpy as np

from llm_planner.control.envelope import MOST_FACTOR, WEIGHTS
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference
from llm_planner.robots.robot_model import RobotModel
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.hand_geometry import HandPose

PANDA = arm_model("panda")

LEFT, RIGHT = HandPose(0.5, 0.3, 0.15, 0.0).pose(), HandPose(0.5, -0.3, 0.15, 0.0).pose()
VASE = Zone("the vase", Shape.SPHERE, (0.05,), Pose((0.5, 0.0, 0.15)), 0.03)
SPEED = 0.4  # [m/s]


def test_limits_zones_and_speed_are_kept_whatever_the_weights_jump_to(robot):
    rng, model = np.random.default_rng(0), RobotModel(PANDA.collision_spec)
    pairs = np.array([(link, 0) for link in model.links])
    spare, fastest, factors = [], [], {}
    for tick in range(450):
        if tick % 7 == 0:
            factors = {name: float(np.exp(rng.uniform(-1.0, 1.0) * np.log(MOST_FACTOR))) for name in WEIGHTS}
        aim = LEFT if tick // 150 % 2 else RIGHT
        robot.tick(
            MotionReference(robot.now, 0.05, (aim,), 0.04), MotionConstraints(SPEED, 1.0, (VASE,), tick, factors)
        )
        model.watch((VASE,))
        postures = model.postures(robot.qpos[None])
        spare.append(float(model.nearness(postures, pairs).distance.min()) - VASE.clearance)
        fastest.append(float(np.linalg.norm(robot.qvel @ model.point_jacobian(postures)[0])))
    assert min(spare) > -0.001
    assert 0.2 < max(fastest) < 1.02 * SPEED
    assert np.max(robot.accelerations) <= 0.6 + 1e-6
    assert np.max(robot.velocities) <= 0.75 + 1e-6
