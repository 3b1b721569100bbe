import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.controlled_robot import JointReference, ReferenceTranslator
from llm_planner.control.input_validation import check_pose, check_reference
from llm_planner.control.inverse_kinematics import InverseKinematics
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.skills.hand_geometry import HandPose

PANDA = arm_model("panda")

HOME = np.array(PANDA.home)
POSES = tuple(HandPose(0.4 + 0.005 * k, 0.0, 0.2, 0.0).pose() for k in range(20))
REFERENCE = MotionReference(start_time=1.0, dt=0.05, poses=POSES[:10], gripper_width=0.04)


class CountingIk:
    """Counts what it is asked for."""

    def __init__(self, inner: InverseKinematics) -> None:
        self.inner, self.calls = inner, 0

    def solve(self, target: Pose, start: np.ndarray) -> object:
        self.calls += 1
        return self.inner.solve(target, start)


@pytest.fixture
def counting(inverse_kinematics: InverseKinematics) -> CountingIk:
    return CountingIk(inverse_kinematics)


def test_only_poses_that_are_new_are_searched(counting: CountingIk) -> None:
    translator = ReferenceTranslator(counting)  # type: ignore[arg-type]
    first = translator.translate(REFERENCE, HOME)
    second = translator.translate(replace(REFERENCE, start_time=1.1, poses=POSES[2:12]), HOME)

    assert counting.calls == 12
    assert second.qpos[:8] == pytest.approx(first.qpos[2:])


def test_the_same_reference_is_translated_once(counting: CountingIk) -> None:
    translator = ReferenceTranslator(counting)  # type: ignore[arg-type]
    assert translator.translate(REFERENCE, HOME) is translator.translate(REFERENCE, HOME)


def test_a_path_that_only_begins_like_the_last_one_is_searched_afresh(counting: CountingIk) -> None:
    translator = ReferenceTranslator(counting)  # type: ignore[arg-type]
    translator.translate(REFERENCE, HOME)
    elsewhere = (*POSES[:3], HandPose(0.4, 0.1, 0.2, 0.0).pose())
    translator.translate(replace(REFERENCE, poses=elsewhere), HOME)

    assert counting.calls == 14


def test_forgetting_searches_everything_again(counting: CountingIk) -> None:
    translator = ReferenceTranslator(counting)  # type: ignore[arg-type]
    translator.translate(REFERENCE, HOME)
    translator.forget()
    translator.translate(REFERENCE, HOME)

    assert counting.calls == 20


def test_a_smooth_motion_is_met_between_its_positions_and_held_outside() -> None:
    def motion(times: np.ndarray) -> np.ndarray:
        return np.column_stack([times**2, np.sin(3.0 * times)])

    times = 0.1 * np.arange(21)
    reference = JointReference.through(
        1.0, 0.1, motion(times), [motion(t)[0] for t in (np.array([-0.2]), np.array([-0.1]))]
    )
    between = np.array([0.0, 0.01, 0.55, 1.23])
    qpos, qvel = reference.sample(1.0 + between)

    assert qpos == pytest.approx(motion(between), abs=1e-4)
    assert qvel == pytest.approx(np.column_stack([2.0 * between, 3.0 * np.cos(3.0 * between)]), abs=5e-3)
    outside, rest = reference.sample(np.array([0.5, 9.0]))
    assert outside == pytest.approx(motion(times[[0, -1]]))
    assert not rest.any()


def test_a_motion_begins_evenly_and_ends_at_rest() -> None:
    reference = JointReference.through(0.0, 0.1, np.array([[0.0], [1.0], [2.0], [2.0]]))

    assert reference.qvel[0] == pytest.approx(10.0)
    assert abs(reference.qvel[-1]) < 1.0


def test_a_single_pose_is_held() -> None:
    qpos, qvel = JointReference.through(1.0, 0.1, np.array([[2.0]])).sample(np.array([0.0, 5.0]))
    assert qpos[:, 0] == pytest.approx([2.0, 2.0])
    assert not qvel.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"poses": ()}, "needs 1 to 1000 poses, not 0"),
        ({"start_time": math.nan}, "start_time is not a finite number: nan"),
        ({"gripper_width": math.inf}, "gripper_width is not a finite number: inf"),
        ({"dt": 0.0}, "dt must lie between 0.001 and 10 s, not 0.0"),
        ({"speed_scale": 1.5}, r"speed_scale must lie in \(0, 1\], not 1.5"),
        ({"gripper_width": -0.01}, "gripper_width must not be negative, not -0.01 m"),
    ],
)
def test_a_wrong_reference_is_told_apart(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_reference(replace(REFERENCE, **change))


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (Pose((0.4, 0.0), (1.0, 0.0, 0.0, 0.0)), "needs 3 numbers of position and 4 of orientation"),  # type: ignore[arg-type]
        (Pose((0.4, math.nan, 0.0), (1.0, 0.0, 0.0, 0.0)), "holds a number that is not finite"),
        (Pose((0.4, 0.0, 0.2), (1.0, 1.0, 0.0, 0.0)), "must be unit quaternions .* has the norm 1.41"),
    ],
)
def test_a_wrong_pose_is_told_apart(pose: Pose, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_pose(pose)
