"""Which arm it is, is read strictly from a file of the operator's."""

from __future__ import annotations

import re

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.robot_file import PANDA, ArmDescription, RobotFile, arm_of, read_arm
from llm_planner.share import share_folder
from llm_planner.strict_yaml import parse_file

NAMES = "joints: [a, b, c, d, e, f, g]\n"
REST = f"position: [{', '.join(['[-1, 1]'] * 7)}]\nvelocity: {[2] * 7}\nacceleration: {[10] * 7}\n"


def read(text: str) -> ArmDescription:
    return parse_file(text, "lab.yaml", RobotFile, arm_of)


def test_the_pandas_file_says_what_holds_without_one():
    read_back = read_arm(share_folder("config") / "robots" / "panda.yaml")
    assert (read_back.joints, read_back.fingers) == (PANDA.joints, PANDA.fingers)
    for name in ("qpos_min", "qpos_max", "qvel_max", "qacc_max"):
        assert getattr(read_back.limits, name) == pytest.approx(getattr(PANDA.limits, name))


def test_the_fr3_keeps_within_what_its_maker_allows():
    fr3 = read_arm(share_folder("config") / "robots" / "fr3.yaml")
    assert fr3.joints[0] == "fr3_joint1"
    assert np.all(fr3.limits.qpos_min > [-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
    assert np.all(fr3.limits.qpos_max < [2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])
    assert np.all(fr3.limits.qvel_max < [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])


def test_an_arm_may_have_no_fingers_in_its_states():
    arm = read(NAMES + REST)
    assert arm.fingers == ()
    assert arm.limits.qvel_max.tolist() == [2.0] * 7


MISTAKES = [
    (REST, "lab.yaml, line 1: the file has no key 'joints'; it needs: joints, position, velocity, acceleration"),
    (NAMES.replace(", g", "") + REST, "position has 7 entries for 6 joints; give one for each"),
    (NAMES + REST.replace("[-1, 1]", "[1, -1]", 1), "position[1] must be [from, to], the smaller one first"),
    (NAMES + "fingers: [x]\n" + REST, "lab.yaml: an arm has 2 finger joints or none, not 1"),
    (NAMES.replace("g]", "a]") + REST, "each joint needs a name of its own: a, b, c, d, e, f, a"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_place(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(text)


def test_an_arm_of_other_joints_is_refused_and_told_why():
    with pytest.raises(InputError, match="needs 7 joints, not 6: lengths and axes are those of the Franka Panda"):
        ArmDescription(PANDA.joints[:6], (), PANDA.limits)
