"""Which arm it is, is read strictly from the folder of a robot."""

from __future__ import annotations

import re
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.errors import InputError
from llm_planner.robots.arm_file import load_arm
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.scene.scene import Pose
from llm_planner.share import share_folder

PANDA = arm_model("panda")

JOINT = "{range: [-3, 4], velocity: 2, acceleration: 10}"
LIKE = "like: panda\nbase: lab_base\njoints:\n" + "".join(
    f"  j{k}: {joint}\n" for k, joint in enumerate([JOINT] * 3 + [JOINT.replace("4]", "0]")] + [JOINT] * 3, 1)
)
UR5E = (share_folder("config") / "robots" / "ur5e" / "robot.yaml").read_text(encoding="utf-8")


PANDA_FOLDER = share_folder("config") / "robots" / "panda"
SIMULATED = str(share_folder("sim") / "robots" / "panda.xml")
MJCF = (PANDA_FOLDER / "robot.yaml").read_text(encoding="utf-8").replace("../../../sim/robots/panda.xml", SIMULATED)
SAFETY = (PANDA_FOLDER / "safety.yaml").read_text(encoding="utf-8")


def read(folder: Path, text: str) -> ArmModel:
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return load_arm(folder)


def test_the_fr3_has_the_links_of_the_panda_and_names_of_its_own():
    fr3 = arm_model("fr3")
    assert (fr3.name, fr3.base, fr3.joints[0], fr3.fingers[0]) == (
        "fr3",
        "fr3_link0",
        "fr3_joint1",
        "fr3_finger_joint1",
    )
    qpos = np.array(fr3.home) + 0.1
    assert fr3.kinematics().pose(qpos) == PANDA.kinematics().pose(qpos)
    assert np.array_equal(arm_body(fr3).place(qpos[None]).points, arm_body(PANDA).place(qpos[None]).points)


def test_the_fr3_keeps_within_what_its_maker_allows():
    limits = arm_model("fr3").limits
    assert np.all(limits.qpos_min > [-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
    assert np.all(limits.qpos_max < [2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])
    assert np.all(limits.qvel_max < [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])


def test_the_reach_of_the_fr3_is_inside_what_its_narrow_ranges_allow():
    fr3 = arm_model("fr3")
    ik = InverseKinematics(fr3.kinematics(), LimitShare().tracking(fr3.limits), IkSettings.of(PANDA))
    for z in np.linspace(0.012, 0.42, 9).tolist():
        for radius in fr3.shape.radius_range(z):
            for azimuth, turn in ((0.0, 0.0), (0.8, 1.4), (-0.8, -1.4)):
                start = np.array(fr3.home)
                start[0], start[6] = azimuth, fr3.home[6] - turn
                hand = (azimuth + turn) / 2  # straight down, so turned by pi about a horizontal axis
                place = (radius * cos(azimuth), radius * sin(azimuth), z)
                solution = ik.solve(Pose(place, (cos(hand), sin(hand), 0.0, 0.0)), start)
                assert solution.position_error < 0.002, (z, radius, azimuth)


def test_the_word_arm_means_the_panda():
    assert arm_model("arm") is PANDA


def test_a_folder_of_ones_own_is_found_again_by_the_name_of_its_arm(tmp_path):
    arm = read(tmp_path, LIKE)
    assert (arm.base, arm.joints, arm.limits.qvel_max.tolist()) == (
        "lab_base",
        tuple(f"j{k}" for k in range(1, 8)),
        [2.0] * 7,
    )
    assert arm_model(arm.name) is arm


def test_an_arm_may_have_no_fingers_in_its_states(tmp_path):
    arm = read(tmp_path, LIKE + "fingers: []\n")
    assert arm.fingers == ()
    assert arm.fixed_fingers_spec().compile().nq == 7


def test_arms_without_a_hand_of_their_own_get_that_of_the_panda():
    theirs, own = (arm_model(name).make().compile() for name in ("ur5e", "panda"))
    for name in (
        "hand",
        "left_finger_root",
        "left_finger",
        "left_pad",
        "right_finger_root",
        "right_finger",
        "right_pad",
    ):
        for key in ("size", "pos", "friction", "type", "solref", "solimp"):
            assert np.array_equal(getattr(theirs.geom(name), key), getattr(own.geom(name), key)), (name, key)
    for key in ("gainprm", "biasprm", "forcerange"):
        assert np.array_equal(getattr(theirs.actuator("gripper"), key), getattr(own.actuator("gripper"), key))


def test_an_arm_may_be_like_any_other_that_ships_and_has_drives_of_its_own(tmp_path):
    text = re.sub(r", torque.*?}", "}", UR5E.replace("description: ur5e.urdf", "like: ur5e"))
    text = re.sub(r"^(tool|hand|reach|rest):.*\n", "", text, flags=re.MULTILINE).replace("elbow_joint", "elbow")
    arm, ur5e = read(tmp_path, text), arm_model("ur5e")
    assert (arm.joints[2], arm.home, arm.shape.profile) == ("elbow", ur5e.home, ur5e.shape.profile)
    assert np.array_equal(
        arm_body(arm).place(np.array([arm.home])).points, arm_body(ur5e).place(np.array([arm.home])).points
    )


def test_adaptation_is_for_arms_whose_file_says_that_their_drives_are_known(tmp_path):
    assert [arm_model(name).payload for name in ("panda", "fr3", "ur5e")] == [3.0, None, None]
    assert read(tmp_path, LIKE + "adaptation: {payload: 2.0}\n").payload == 2.0


FAULTS_FOR_THE_FILTER = [
    (SAFETY.replace("  - [0.088, 0.0, 1.5707963267948966]\n", ""), "joints lists 6 joints, but the robot has 7"),
    (SAFETY.replace("link: 6", "link: 7"), "rods[14].link is 7; the links are 0 to 6"),
    (SAFETY.replace("radius: 0.045", "radius: 0"), "rods[14].radius must be greater than 0, not '0'"),
    (SAFETY.replace("hand:", "tool:"), "tool is unknown; the keys are: joints, rods, hand"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS_FOR_THE_FILTER)
def test_a_mistake_in_the_filters_file_is_told_with_its_place(tmp_path, text, message):
    (tmp_path / "safety.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        arm_body(read(tmp_path, MJCF))


URDF = str(share_folder("config") / "robots" / "ur5e" / "ur5e.urdf")
MOBILE = (share_folder("config") / "robots" / "mobile_ur5e" / "robot.yaml").read_text(encoding="utf-8")
PEDESTAL = Path(__file__).parents[2] / "examples" / "robots" / "ur5e_pedestal"
MISTAKES = [
    (MOBILE.replace("0.0, 0.62]", "0.1, 0.62]"), "mounting must be above the floor, upright, on the x axis: {position"),
    (MOBILE.replace("0.0, 0.62]", "0.0, 0.0]"), "mounting must be above the floor, upright, on the x axis: {position"),
    (MOBILE.replace("0.62]", "0.62], rpy: [0, 0, 1]"), "mounting must be above the floor, upright, on the x axis"),
    (MOBILE.replace("arm: ur5e", "arm: mobile_ur5e"), "arm is 'mobile_ur5e', which stands on a base already"),
    (MOBILE.replace("arm: ur5e", f"arm: {PEDESTAL}"), "which has a mounting already; name an arm that has none"),
    (
        UR5E.replace("elbow_joint:", "elbow_jiont:").replace("ur5e.urdf", URDF),
        "joints.elbow_jiont is no joint of ur5e.urdf; choose one of: shoulder_pan",
    ),
    (LIKE.replace("panda", "crane"), "line 1: like is 'crane'; choose one of: panda, so_arm, ur5e, xarm7"),
    (LIKE.replace("panda", "fr3"), "line 1: like is 'fr3'; choose one of: panda, so_arm, ur5e, xarm7"),
    (LIKE.replace("panda", "ur5e"), "joints: an arm like ur5e has 6 joints, not 7; for an arm with other"),
    (LIKE.replace("base: lab_base\n", ""), "the file has no key 'base'; it needs: like, base, joints"),
    (
        LIKE + "model: ur5e\n",
        "model is unknown; the keys are: like, base, joints, fing",
    ),
    (LIKE.replace(f"  j7: {JOINT}\n", ""), "joints: an arm like panda has 7 joints, not 6; for an arm with other"),
    (LIKE.replace("[-3, 4]", "[4, -3]", 1), "line 4: joints.j1.range must be [from, to], the smaller one first"),
    (LIKE.replace("[-3, 4]", "[-3]", 1), "joints.j1.range"),
    (LIKE.replace("velocity: 2", "velocity: 0", 1), "joints.j1.velocity must be greater than 0, not '0'"),
    (LIKE.replace("velocity: 2", "velocity: .nan", 1), "joints.j1.velocity must be a number, not"),
    (LIKE.replace("[-3, 0]", "[-1, 0]"), "joints.j4 has its home position -2.3562 outside of its range [-1, 0]"),
    (LIKE + "fingers: [x]\n", "fingers: the hand has two finger joints, not 1; name both, or []"),
    (
        LIKE + "fingers: [x, j1]\n",
        "each joint and finger needs a name of its own, not: j1, j2, j3, j4, j5, j6, j7, x, j1",
    ),
    (UR5E.replace("tool: tool0\n", ""), "the file has no key 'tool', the link of the URDF that the hand is mounted on"),
    (
        MJCF.replace("panda_joint7:", "panda_joint8:"),
        "joints.panda_joint8 is no joint of panda.xml; choose one of",
    ),
    (
        MJCF.replace("safety: ", "# safety: "),
        "the file has no key 'safety', a file for the safety filter, which",
    ),
    (MJCF + "tool: panda_link7\n", "tool is for a URDF; an MJCF has the hand already"),
    (MJCF.replace("/panda.xml", "/../worlds/tabletop.xml"), "joints.panda_joint1 is no joint of tabletop.xml"),
    (
        UR5E.replace("home: 1.6215", "home: 3.5"),
        "joints.elbow_joint has its home position 3.5 outside of",
    ),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, text)
