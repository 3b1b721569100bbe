import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmShape, arm_model
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.limits import LimitShare
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.hand_geometry import (
    HandPose,
    check_reach,
    comfortable_yaw,
    hand_slices,
    inner_radius,
    into_reach,
    rest_pose,
    room,
)
from llm_planner.skills.paths import SkillCall

PANDA = arm_model("panda")


def test_a_block_is_taken_across_its_sides_at_its_middle(thing: Any, scene_of: Any) -> None:
    block = thing("red block", 0.5, 0.1, yaw=0.3)
    grasp = choose_grasp(scene_of(block), block)

    assert (grasp.grip.x, grasp.grip.y, grasp.grip.z) == pytest.approx((0.5, 0.1, 0.02))
    assert math.sin(2 * (grasp.grip.yaw - 0.3)) == pytest.approx(0.0, abs=1e-9)
    assert grasp.width == pytest.approx(0.04)
    assert grasp.opening > 0.05


def test_the_wrist_is_left_near_its_middle(thing: Any, scene_of: Any) -> None:
    for yaw in np.linspace(-math.pi, math.pi, 9):
        block = thing("red block", 0.4, -0.3, yaw=yaw)
        assert abs(choose_grasp(scene_of(block), block).grip.yaw - math.atan2(-0.3, 0.4)) <= math.pi / 4 + 1e-6


@pytest.mark.parametrize("yaw", [-3.0, 0.0, 2.5])
def test_the_fingers_are_symmetric(yaw: float) -> None:
    turned = comfortable_yaw(0.5, 0.2, yaw)
    assert abs(turned - math.atan2(0.2, 0.5)) <= math.pi / 2
    assert math.sin(turned - yaw) == pytest.approx(0.0, abs=1e-9)


def test_the_fingers_avoid_a_neighbour(thing: Any, scene_of: Any) -> None:
    block, neighbour = thing("red block", 0.5, 0.0), thing("blue block", 0.5, 0.055)
    grasp = choose_grasp(scene_of(block, neighbour), block)

    # The neighbour stands on the left, so the fingers close along x: the gripper's x axis lies along y.
    assert abs(math.sin(grasp.grip.yaw)) == pytest.approx(1.0)


def test_a_block_hemmed_in_by_neighbours_says_who_is_in_the_way(thing: Any, scene_of: Any) -> None:
    block = thing("red block", 0.5, 0.0)
    around = [thing(f"{c} block", 0.5 + x, y) for c, x, y in
              (("blue", 0.05, 0), ("green", -0.05, 0), ("pink", 0, 0.05), ("cyan", 0, -0.05))]  # fmt: skip
    with pytest.raises(SkillError, match=r"do not fit around the red block: the .* block is too close") as e:
        choose_grasp(scene_of(block, *around), block)
    assert e.value.code is SkillErrorCode.NO_GRASP


def test_a_bowl_is_taken_by_its_rim(thing: Any, scene_of: Any) -> None:
    bowl = thing("green bowl", 0.5, 0.1)
    grasp = choose_grasp(scene_of(bowl), bowl)

    assert math.dist((grasp.grip.x, grasp.grip.y), (0.5, 0.1)) == pytest.approx(0.058, abs=0.003)
    assert grasp.width < 0.02
    # The closing axis points from the middle to the rim.
    outward = math.atan2(grasp.grip.y - 0.1, grasp.grip.x - 0.5)
    assert math.sin(grasp.grip.yaw + math.pi / 2 - outward) == pytest.approx(0.0, abs=1e-6)


def test_a_thing_of_an_unknown_kind_is_taken_by_its_box(thing: Any, scene_of: Any) -> None:
    item = replace(thing("red block", 0.5, 0.0), kind="eraser", size=(0.12, 0.03, 0.02))
    grasp = choose_grasp(scene_of(item), item)

    assert grasp.width == pytest.approx(0.03)
    assert abs(math.sin(grasp.grip.yaw)) == pytest.approx(0.0, abs=1e-9)


def test_a_bowl_that_leans_cannot_be_grasped_and_is_said_to_have_fallen(thing: Any, scene_of: Any) -> None:
    bowl = replace(thing("red bowl", 0.5, 0.0), orientation=(math.sin(0.4), 0.0, 0.0, math.cos(0.4)))
    with pytest.raises(SkillError, match="the red bowl has fallen over; the fingers do not get around it so"):
        choose_grasp(scene_of(bowl), bowl)


def test_a_thing_wider_than_the_hand_cannot_be_grasped(thing: Any, scene_of: Any) -> None:
    box = thing("red box", 0.5, 0.0)
    with pytest.raises(SkillError, match=r"the red box is too wide to grasp: 0.100 m of at most 0.074 m") as e:
        choose_grasp(scene_of(box), box)
    assert e.value.code is SkillErrorCode.NO_GRASP


def test_a_thing_out_of_reach_is_not_tried(thing: Any, scene_of: Any) -> None:
    block = thing("red block", 0.9, 0.0)
    with pytest.raises(SkillError, match=r"the red block at \(0.90, 0.00\) is out of reach: the arm reaches") as e:
        choose_grasp(scene_of(block), block)
    assert e.value.code is SkillErrorCode.UNREACHABLE


def test_behind_the_base_nothing_is_reached() -> None:
    assert not PANDA.shape.reaches(-0.5, 0.0)
    with pytest.raises(SkillError, match="out of reach"):
        check_reach(-0.5, 0.0, "it", PANDA.shape)


def test_the_reach_is_inside_what_the_arm_can_do() -> None:
    ik = InverseKinematics(PANDA.kinematics(), LimitShare().tracking(PANDA.limits), IkSettings.of(PANDA))
    for z in np.linspace(0.012, 0.42, 9):
        for radius in PANDA.shape.radius_range(float(z)):
            for azimuth, turn in ((0.0, 0.0), (0.8, 1.4), (-0.8, -1.4)):
                x, y = radius * math.cos(azimuth), radius * math.sin(azimuth)
                start = np.array(PANDA.home)
                start[0], start[6] = azimuth, PANDA.home[6] - turn
                solution = ik.solve(HandPose(x, y, float(z), azimuth + turn).pose(), start)
                assert solution.position_error < 0.002, (z, radius, azimuth)


def test_a_grip_is_moved_into_reach_along_its_azimuth() -> None:
    grip = into_reach(HandPose(0.9, 0.45, 0.1, 0.0), PANDA.shape)
    assert math.hypot(grip.x, grip.y) == pytest.approx(0.79)
    assert grip.y / grip.x == pytest.approx(0.5)
    assert into_reach(HandPose(0.5, 0.0, 0.1, 0.0), PANDA.shape) == HandPose(0.5, 0.0, 0.1, 0.0)
    near = into_reach(HandPose(0.2, 0.0, 9.0, 0.0), PANDA.shape)
    assert math.hypot(near.x, near.y) == pytest.approx(0.23)


SHORT = ArmShape("short", ((0.0, 0.2, 0.5), (0.5, 0.1, 0.3)), (0.25, 0.0, 0.3))


def test_another_arm_has_its_own_reach_and_rest() -> None:
    grip = into_reach(HandPose(0.6, 0.0, 0.25, 0.7), SHORT)
    assert (grip.x, grip.y, grip.z, grip.yaw) == pytest.approx((0.4, 0.0, 0.25, 0.7))
    assert rest_pose(SHORT) == HandPose(0.25, 0.0, 0.3, 0.0)
    assert SHORT.reaches(0.22, 0.0)
    assert not PANDA.shape.reaches(0.22, 0.0)
    with pytest.raises(SkillError, match=r"the cup at \(0.60, 0.00\) is out of reach: the arm reaches 0.2 to 0.5 m"):
        check_reach(0.6, 0.0, "the cup", SHORT)


def test_the_scene_says_whose_reach_counts(thing: Any, scene_of: Any) -> None:
    block = thing("red block", 0.5, 0.0)
    scene = replace(scene_of(block), arm="crane").with_object(block)
    with pytest.raises(InputError, match="there is no robot 'crane'; the robots are: fr3, "):
        choose_grasp(scene, block)
    with pytest.raises(InputError, match="'crane'"):
        _ = SkillCall({}, scene, scene).shape


def test_the_hand_passes_over_what_is_lower_than_it(thing: Any, scene_of: Any) -> None:
    scene = scene_of(thing("red block", 0.5, 0.0))
    assert room(hand_slices(HandPose(0.5, 0.0, 0.06, 0.0), 0.08, DEFAULT_HAND), scene)[0] == math.inf
    gap, name = room(hand_slices(HandPose(0.5, 0.0, 0.045, 0.0), 0.0, DEFAULT_HAND), scene)
    assert (gap < 0.0, name) == (True, "red block")


def test_the_palm_meets_a_tall_neighbour_that_the_fingers_pass(thing: Any, scene_of: Any) -> None:
    scene = scene_of(thing("vase", 0.5, 0.09))
    assert room(hand_slices(HandPose(0.5, 0.0, 0.02, 0.0), 0.05, DEFAULT_HAND), scene)[0] < 0.0
    assert room(hand_slices(HandPose(0.5, 0.0, 0.02, math.pi / 2), 0.05, DEFAULT_HAND), scene)[0] > 0.02


def test_fingers_in_a_bowl_are_inside_its_wall(thing: Any, scene_of: Any) -> None:
    bowl = thing("green bowl", 0.5, 0.0)
    inside = hand_slices(HandPose(0.5, 0.0, 0.03, 0.0), 0.05, DEFAULT_HAND)
    assert room(inside, scene_of(bowl))[0] > 0.0
    at_the_wall = hand_slices(HandPose(0.5, 0.035, 0.03, 0.0), 0.05, DEFAULT_HAND)
    assert room(at_the_wall, scene_of(bowl))[0] < 0.0
    assert inner_radius(bowl) == pytest.approx(0.05)


@pytest.mark.parametrize("yaw", [0.0, 0.4, 0.9, 1.4])
def test_a_block_beside_the_middle_of_a_bowl_is_taken_out_between_it_and_the_wall(
    yaw: float, thing: Any, scene_of: Any
) -> None:
    bowl = thing("green bowl", 0.5, 0.1)
    aside = 0.5 + 0.023 * math.cos(yaw), 0.1 + 0.023 * math.sin(yaw)  # where the first of two blocks is put
    block = thing("red block", *aside, z=0.025, yaw=yaw)
    grasp = choose_grasp(scene_of(bowl, block), block)
    fingers = hand_slices(grasp.grip, grasp.opening, DEFAULT_HAND)[1:]
    assert min(finger.begins for finger in fingers) > 0.006  # above the floor of the bowl
    assert room(fingers, scene_of(bowl))[0] > 0.0
    assert grasp.grip.z < 0.045 - 0.005  # with the block well between them
