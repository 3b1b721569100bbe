"""An arm without a sixth joint: the hand is where it is wanted, and turned as well as the arm can turn it there."""

import numpy as np
import pytest

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.reach_map import DownwardReach, measure_reach, pointing, straight_down
from llm_planner.errors import InputError
from llm_planner.robots.arm_file import load_arm
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Pose
from llm_planner.share import share_folder

ARM = arm_model("so_arm")
PANDA = arm_model("panda")
HOME = np.array(ARM.home)
TEXT = (share_folder("config") / "robots" / "so_arm" / "robot.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reach():
    return DownwardReach(ARM)


@pytest.fixture(scope="module")
def solver(reach):
    settings = IkSettings(posture=HOME, posture_weight=np.array(ARM.posture))
    return InverseKinematics(reach.kinematics, reach.limits, settings)


@pytest.mark.parametrize("seed", range(5))
def test_a_hand_that_points_down_has_any_place_and_yaw(solver, seed):
    rng = np.random.default_rng(seed)
    radius, azimuth = rng.uniform(0.15, 0.24), rng.uniform(-1.2, 1.2)
    yaw = azimuth + ARM.shape.neutral + rng.uniform(-1.0, 1.0)
    solution = solver.solve(straight_down(radius * np.cos(azimuth), radius * np.sin(azimuth), 0.02, yaw), HOME)
    assert solution.converged


@pytest.mark.parametrize("radius", [0.16, 0.2, 0.25])
def test_above_the_reach_of_its_wrist_the_hand_leans_outwards_and_does_not_leave_its_place(reach, solver, radius):
    target = straight_down(radius, 0.0, 0.12, 0.0)
    solution = solver.solve(target, HOME)
    assert not solution.converged
    assert np.linalg.norm(reach.kinematics.forward(solution.qpos)[0] - target.position) < 2e-4
    assert 0.1 < pointing(reach.kinematics, solution.qpos)[0] < 0.4
    assert solution.rotation_error == pytest.approx(pointing(reach.kinematics, solution.qpos)[0], abs=0.02)


def test_a_hand_that_is_to_tilt_to_the_side_stays_in_its_place(reach, solver):
    level = Pose((0.2, 0.05, 0.03), (np.cos(0.3), 0.0, np.sin(0.3), 0.0))
    solution = solver.solve(level, HOME)
    assert np.linalg.norm(reach.kinematics.forward(solution.qpos)[0] - level.position) < 2e-4
    assert (solution.qpos >= reach.limits.lower).all()
    assert (solution.qpos <= reach.limits.upper).all()


def test_the_reach_that_ships_is_the_measured_one(reach):
    profile = ARM.shape.profile
    measured = measure_reach(ARM, [row[0] for row in profile], azimuths=(-1.2, 0.6), yaws=(-1.57, 1.57), reach=reach)
    for (height, low, far), (_, nearest, farthest) in zip(profile, measured, strict=True):
        assert nearest - 0.01 < low < nearest + 0.05, height
        assert farthest - 0.05 < far < farthest + 0.01, height


def test_a_short_arm_travels_lower_than_a_large_one():
    short, large = ARM.shape.heights, PANDA.shape.heights
    assert (large.cruise_min, large.cruise_max, large.detour_max, large.highest) == (0.12, 0.42, 0.48, 0.6)
    assert short.cruise_max < ARM.shape.ceiling < 0.2
    assert short.cruise_min < 0.05


def test_the_base_axis_is_that_of_the_first_joint_where_the_base_link_is_behind_it():
    assert ARM.mounting.position[0] < -0.03
    assert ARM.shape.axis == pytest.approx((0.0, 0.0), abs=1e-6)


def test_a_hand_that_does_not_fit_the_description_is_refused(tmp_path):
    wrong = TEXT.replace("replaces: [gripper_link,", "replaces: [palm,")
    (tmp_path / "robot.yaml").write_text(wrong, encoding="utf-8")
    with pytest.raises(InputError, match="no link 'palm' for the hand to replace; its links are"):
        load_arm(tmp_path).make()
