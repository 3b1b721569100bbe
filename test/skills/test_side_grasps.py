"""What cannot be taken from above is taken from the side by a level hand, and put down as it is held."""

from __future__ import annotations

import math

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.predicates import clear, on_table, toppled
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.footprints import separation
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.hand_geometry import LEVEL, HandPose, grip_of, hand_slices, solids
from llm_planner.skills.library import load_skills
from llm_planner.skills.paths import SkillCall, grasp
from llm_planner.skills.placement import held_in


def thing(kind: str, x: float, y: float, yaw: float = 0.0) -> SceneObject:
    return standing(ObjectSpec(kind, kind, ""), Placement(x, y, yaw))


def scene(*items: SceneObject, arm: str = "panda") -> Scene:
    return Scene(0.0, items, arm=arm)


@pytest.mark.parametrize("tilt", [0.0, 0.7, LEVEL, -LEVEL])
@pytest.mark.parametrize("yaw", [-2.0, 0.3, 3.0])
def test_a_hand_is_found_again_in_its_pose(tilt, yaw):
    found = grip_of(HandPose(0.5, 0.1, 0.2, yaw, tilt).pose())
    assert math.sin(found.yaw - yaw) == pytest.approx(0.0, abs=1e-9)
    assert math.cos(found.yaw - yaw) == pytest.approx(1.0)
    assert found.tilt == pytest.approx(tilt)


def test_a_level_hand_has_its_palm_behind_its_fingers():
    gripper = arm_model("panda").gripper
    palm, *fingers = hand_slices(HandPose(0.5, 0.0, 0.2, 0.0, LEVEL), 0.05, gripper)
    assert palm.shape.center[0] < 0.5 - gripper.palm[2]
    assert (palm.begins, palm.ends) == pytest.approx((0.2 - gripper.palm[0], 0.2 + gripper.palm[0]))
    assert max(part.shape.center[0] + part.shape.half[0] for part in fingers) == pytest.approx(0.5 + gripper.tip)


def test_what_fits_from_above_is_taken_from_above():
    bottle = thing("bottle", 0.5, 0.1)
    assert choose_grasp(scene(bottle), bottle).grip.tilt == 0.0


@pytest.mark.parametrize("arm", ["panda", "ur5e"])
def test_a_lamp_whose_shade_is_too_wide_is_taken_by_its_stem(arm):
    lamp = thing("lamp", 0.5, 0.1)
    found = choose_grasp(scene(lamp, arm=arm), lamp)
    assert found.grip.is_level
    assert found.width < 0.04
    assert 0.02 < found.grip.z < 0.19  # between the foot and the shade


def test_what_is_too_tall_for_the_arm_is_taken_from_the_side():
    stick = thing("candlestick", 0.55, -0.2)
    assert choose_grasp(scene(stick), stick).grip.is_level


def test_what_stands_under_a_shelf_is_taken_out_from_the_side():
    bottle, shelf = thing("bottle", 0.55, -0.2), thing("shelf", 0.55, -0.2, math.atan2(-0.2, 0.55))
    found = choose_grasp(scene(bottle, shelf), bottle)
    assert found.grip.is_level
    board, _, _ = solids(shelf)[0]
    tips = found.grip.advanced(-found.back)  # where the hand comes down there is nothing above it
    fingers = hand_slices(tips, found.opening, arm_model("panda").gripper)[1:]
    assert all(separation(finger.shape, board) > 0.0 for finger in fingers)
    assert bottle.size[2] + found.lift < shelf.size[2]


def test_a_shelf_over_a_mug_does_not_lie_in_it():
    mug, shelf = thing("mug", 0.5, 0.0), thing("shelf", 0.5, 0.0)
    assert clear(scene(mug, shelf), "mug")


def test_a_suction_cup_says_that_it_takes_things_from_above_only():
    bottle, shelf = thing("bottle", 0.5, 0.1), thing("shelf", 0.5, 0.1)
    with pytest.raises(SkillError, match="a suction cup takes things from above only") as error:
        choose_grasp(scene(bottle, shelf, arm="examples/robots/ur5e_suction"), bottle)
    assert error.value.code is SkillErrorCode.NO_GRASP


def test_what_is_low_and_hemmed_in_says_that_it_is_too_low_for_the_side():
    block = thing("block", 0.5, 0.0)
    around = [
        standing(ObjectSpec(f"{k} block", "block", ""), Placement(0.5 + x, y, 0.0))
        for k, (x, y) in enumerate(((0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)))
    ]
    with pytest.raises(SkillError, match=r"do not fit around the block.*from the side it is too low"):
        choose_grasp(scene(block, *around), block)


def test_the_forecast_of_a_side_grasp_comes_from_beside_the_object():
    lamp = thing("lamp", 0.5, 0.1)
    before = scene(lamp)
    path = grasp(SkillCall({"object": "lamp"}, before, Scene(0.0, (lamp,), held="lamp", arm="panda")))
    taken = next(index for index, point in enumerate(path.points) if point.done)
    arrival = path.points[taken - 2].position, path.points[taken - 1].position
    assert arrival[0][2] == pytest.approx(arrival[1][2])  # it comes forward at one height
    assert math.dist(*arrival) > 0.08


def test_a_release_keeps_the_hand_as_it_holds():
    lamp = thing("lamp", 0.5, 0.1)
    grip = HandPose(0.5, 0.1, 0.13, 1.0, -LEVEL)
    held = held_in(Scene(0.0, (lamp,), held="lamp", arm="panda"), grip, 0.03)
    release = held.grip_at((0.4, -0.2), held.nearest_yaw(0.4, -0.2, 0.5), 0.0)
    assert release.tilt == grip.tilt
    assert release.z == pytest.approx(grip.z, abs=0.003)


def test_a_lamp_is_moved_upright():
    start = scene(thing("lamp", 0.5, 0.15, 0.2))
    world = World(0, layout=start, arm=arm_model("panda"))
    library, episode = load_skills(), Episode(world)
    for name, arguments in (("pick", {"object": "lamp"}), ("place_at", {"place": (0.5, -0.2, 0.0)})):
        result = episode.run(library.find(name), arguments)
        assert result.code is SkillErrorCode.SUCCEEDED, result.message
    after = world.scene()
    assert on_table(after, "lamp")
    assert not toppled(after, "lamp")
    assert math.dist(after.find("lamp").position[:2], (0.5, -0.2)) < 0.03
