"""Home and reach of an arm are found by inverse kinematics, and agree with what was measured by hand."""

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.reach_map import DownwardReach, find_home, measure_reach, pointing, straight_down
from llm_planner.errors import InputError
from llm_planner.robots.arm_entries import ArmEntry, HandEntry
from llm_planner.robots.arm_file import ROBOT_FILE, arm_of, load_arm, robot_folder
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.strict_yaml import read_file

FOLDER = robot_folder("ur5e")
UR5E = load_arm(FOLDER)


@pytest.fixture(scope="module")
def reach():
    return DownwardReach(UR5E)


def test_a_hand_that_points_down_is_that_of_the_skills():
    assert straight_down(0.4, 0.1, 0.2, 0.7) == HandPose(0.4, 0.1, 0.2, 0.7).pose()


def test_the_reach_that_ships_lies_within_the_measured_one(reach):
    profile = UR5E.shape.profile
    measured = measure_reach(UR5E, [row[0] for row in profile[::2]], reach=reach)
    for (height, low, far), (_, nearest, farthest) in zip(profile[::2], measured, strict=True):
        assert nearest - 0.02 < low < nearest + 0.15, height
        assert farthest - 0.15 < far < farthest + 0.02, height


def test_a_height_out_of_reach_is_left_out(reach):
    rows = measure_reach(UR5E, (0.2, 3.0), (0.0,), (0.0,), margin=0.05, reach=reach)
    assert [row[0] for row in rows] == [0.2]


def test_home_has_the_hand_straight_down_and_the_last_joint_near_its_middle():
    entry = read_file(FOLDER / ROBOT_FILE, ArmEntry, lambda content: content)
    turned = arm_of(entry.model_copy(update={"hand": HandEntry(turn=0.0)}), FOLDER)
    home = find_home(turned, draws=30)
    tilt, yaw = pointing(DownwardReach(replace(turned, home=home.qpos)).kinematics, np.array(home.qpos))
    assert tilt < 0.01
    assert np.cos(yaw - home.turn) > 0.9999  # with the hand at turn 0; mounted at `turn` it has the yaw 0
    assert abs(home.qpos[-1]) < np.pi / 4
    assert home.rest[0] > 0.25


def test_links_that_touch_are_named(reach):
    folded = np.array(UR5E.home)
    folded[1] = 0.0  # the arm lies on the table
    assert any("the table" in pair for pair in reach.touches.at(folded))
    assert reach.touches.at(np.array(UR5E.home)) == []


def test_an_arm_that_cannot_point_its_hand_down_has_no_home():
    limits = replace(UR5E.limits, qpos_min=np.full(6, -0.1), qpos_max=np.full(6, 0.1))
    with pytest.raises(InputError, match="no posture has the hand straight down"):
        find_home(replace(UR5E, limits=limits), draws=3)
