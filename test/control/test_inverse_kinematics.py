import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics, rotation_vector
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.scene.scene import Pose
from llm_planner.skills.hand_geometry import HandPose

PANDA = arm_model("panda")

HOME = np.array(PANDA.home)


@pytest.mark.parametrize("seed", range(5))
def test_the_arm_is_where_a_reachable_pose_wants_it(
    inverse_kinematics: InverseKinematics, arm: ArmKinematics, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    radius, azimuth = rng.uniform(0.32, 0.7), rng.uniform(-1.0, 1.0)
    x, y = radius * math.cos(azimuth), radius * math.sin(azimuth)
    target = HandPose(x, y, rng.uniform(0.02, 0.3), azimuth + rng.uniform(-1.5, 1.5)).pose()

    solution = inverse_kinematics.solve(target, HOME)

    assert solution.converged
    position, rotation = arm.forward(solution.qpos)
    assert math.dist(position, target.position) < 2e-4
    assert np.linalg.norm(rotation_vector(rotation, target.orientation)) < 2e-3


def test_a_solution_keeps_the_position_limits_with_their_margin(inverse_kinematics: InverseKinematics) -> None:
    limits = LimitShare().tracking(PANDA.limits)
    for x in np.linspace(0.2, 0.9, 8):
        qpos = inverse_kinematics.solve(HandPose(x, 0.1, 0.1, 1.5).pose(), HOME).qpos
        assert (qpos >= limits.lower).all()
        assert (qpos <= limits.upper).all()


def test_a_pose_out_of_reach_gives_the_closest_posture_and_says_how_far_it_is_off(
    inverse_kinematics: InverseKinematics,
) -> None:
    solution = inverse_kinematics.solve(HandPose(1.2, 0.0, 0.3, 0.0).pose(), HOME)

    assert not solution.converged
    assert 0.2 < solution.position_error < 0.6


def test_the_spare_joint_goes_to_its_posture(arm: ArmKinematics, inverse_kinematics: InverseKinematics) -> None:
    turned = HOME.copy()
    turned[2] = 0.8
    pose, qpos = arm.pose(HOME), turned
    for _ in range(40):
        qpos = inverse_kinematics.solve(pose, qpos + 1e-3).qpos

    assert abs(qpos[2]) < 0.5


def test_more_iterations_never_give_a_worse_answer(arm: ArmKinematics) -> None:
    limits = LimitShare().tracking(PANDA.limits)
    target = HandPose(0.6, -0.3, 0.05, -1.0).pose()
    errors = [
        InverseKinematics(arm, limits, replace(IkSettings.of(PANDA), max_iterations=count))
        .solve(target, HOME)
        .position_error
        for count in (1, 3, 10, 40)
    ]

    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("angle", [0.0, 0.5, -2.0, 3.1])
def test_the_rotation_vector_is_the_turn_that_is_missing(angle: float) -> None:
    target = Pose((0, 0, 0), (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)))

    assert rotation_vector(np.eye(3), target.orientation) == pytest.approx([0.0, 0.0, angle], abs=1e-9)


def test_the_elbow_does_not_depend_on_the_tolerance(arm: ArmKinematics) -> None:
    start, limits, kept = HOME.copy(), LimitShare().tracking(PANDA.limits), IkSettings.of(PANDA)
    start[2] = 0.4
    target = Pose((0.45, 0.1, 0.2), (1.0, 0.0, 0.0, 0.0))

    loose, tight = (
        InverseKinematics(arm, limits, replace(kept, position_tolerance=tolerance, rotation_tolerance=tolerance)).solve(
            target, start
        )
        for tolerance in (1e-5, 1e-8)
    )

    assert loose.qpos == pytest.approx(tight.qpos, abs=2e-3)
    assert 0.0 < tight.qpos[2] < 0.4  # nearer to its posture
