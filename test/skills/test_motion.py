import math

import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Pose
from llm_planner.skills.hand_geometry import HandPose, grip_of, rest_pose
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

START, OVER, GOAL = HandPose(0.4, -0.2, 0.05, -0.5), HandPose(0.5, 0.2, 0.2, 0.4), HandPose(0.5, 0.2, 0.03, 0.4)
LEGS = [Leg(HandPose(0.4, -0.2, 0.2, -0.5)), Leg(OVER), Leg(GOAL)]


def positions(poses: tuple[Pose, ...]) -> np.ndarray:
    return np.array([START.pose().position, *(pose.position for pose in poses)])


def test_a_path_ends_exactly_at_its_goal() -> None:
    assert plan_path(START, LEGS, MotionLimits())[-1] == GOAL.pose()


def test_a_path_keeps_the_speed_and_acceleration_of_its_limits() -> None:
    limits = MotionLimits(speed=0.4, acceleration=1.5)
    up = positions(plan_path(START, [Leg(HandPose(0.4, -0.2, 0.35, -0.5))], limits))
    speed = np.diff(up[:, 2]) / PATH_DT
    acceleration = np.diff(speed) / PATH_DT

    assert 0.3 < speed.max() <= 0.4 + 1e-9
    assert np.abs(acceleration).max() <= 1.5 + 1e-9


def test_a_path_begins_and_ends_at_rest() -> None:
    speed = np.linalg.norm(np.diff(positions(plan_path(START, LEGS, MotionLimits())), axis=0), axis=1) / PATH_DT
    assert speed[0] < 0.03
    assert speed[-1] < 0.03


def test_legs_flow_into_each_other_without_stopping() -> None:
    speed = np.linalg.norm(np.diff(positions(plan_path(START, LEGS, MotionLimits())), axis=0), axis=1) / PATH_DT
    assert speed[3:-3].min() > 0.05


def test_a_swing_keeps_its_distance_from_the_base() -> None:
    poses = plan_path(HandPose(0.4, -0.3, 0.2, -0.6), [Leg(HandPose(0.4, 0.3, 0.2, 0.6))], MotionLimits())
    radii = [math.hypot(*pose.position[:2]) for pose in poses]
    assert radii == pytest.approx([0.5] * len(radii))


def test_a_straight_path_is_a_line_in_space() -> None:
    poses = plan_path(HandPose(0.4, -0.3, 0.2, 0.0), [Leg(HandPose(0.4, 0.3, 0.2, 0.0))], MotionLimits(), straight=True)
    assert all(pose.position[0] == pytest.approx(0.4) for pose in poses)


def test_near_the_base_the_hand_moves_more_slowly() -> None:
    limits = MotionLimits()
    near = plan_path(HandPose(0.31, 0.0, 0.05, 0.0), [Leg(HandPose(0.31, 0.0, 0.2, 0.0))], limits)
    far = plan_path(HandPose(0.6, 0.0, 0.05, 0.0), [Leg(HandPose(0.6, 0.0, 0.2, 0.0))], limits)
    assert len(near) > len(far)


@pytest.mark.parametrize("yaw", [-3.0, -0.4, 0.0, 1.2])
def test_a_grip_is_found_again_in_its_pose(yaw: float) -> None:
    grip = HandPose(0.4, 0.1, 0.2, yaw)
    found = grip_of(grip.pose())
    assert (found.x, found.y, found.z, found.yaw) == pytest.approx((0.4, 0.1, 0.2, yaw))


def test_the_way_home_ends_in_the_resting_posture() -> None:
    pose = PANDA.kinematics().pose(np.array(PANDA.home))
    assert math.dist(pose.position, rest_pose(PANDA.shape).pose().position) < 0.001
    assert pose.orientation == pytest.approx(rest_pose(PANDA.shape).pose().orientation, abs=1e-5)


@pytest.mark.parametrize("straight", [False, True])
def test_a_limit_in_space_bounds_the_hand_as_a_whole(straight: bool) -> None:
    path = positions(plan_path(START, LEGS, MotionLimits(in_space=0.1), straight))
    fastest = np.linalg.norm(np.diff(path, axis=0), axis=1).max() / PATH_DT
    assert 0.08 < fastest <= 0.1
