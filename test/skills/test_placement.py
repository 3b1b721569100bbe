import math
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.scene.places import WORKSPACE, region
from llm_planner.scene.predicates import at
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.placement import Held, held_in, inside, on_table, on_top, spread

HAND = HandPose(0.4, 0.0, 0.25, 0.0)


def holding(scene_of: Any, thing: Any, *others: Any, name: str = "red block") -> tuple[Scene, Held]:
    """The object hangs in the hand, 5 mm off its middle and a little turned."""
    scene = scene_of(thing(name, 0.405, 0.0, z=0.25, yaw=0.1), *others, held=name)
    return scene, held_in(scene, HAND, 0.04)


def test_the_hand_is_placed_so_that_the_object_lies_where_it_is_wanted(scene_of: Any, thing: Any) -> None:
    _, held = holding(scene_of, thing)
    grip = held.grip_at((0.5, 0.2), 0.4, surface=0.1)

    offset = (0.5 - grip.x, 0.2 - grip.y)
    assert math.hypot(*offset) == pytest.approx(0.005)
    assert math.atan2(offset[1], offset[0]) == pytest.approx(grip.yaw)
    assert grip.z == pytest.approx(0.1 + 0.02 + 0.002)


def test_an_empty_hand_has_nothing_to_place(scene_of: Any, thing: Any) -> None:
    with pytest.raises(SkillError, match="the gripper holds nothing; pick something up first") as e:
        held_in(scene_of(thing("red block", 0.5, 0.0)), HAND, 0.04)
    assert e.value.code is SkillErrorCode.PRECONDITION_FAILED


def test_a_thing_is_stacked_with_its_sides_along_those_below(scene_of: Any, thing: Any) -> None:
    below = thing("blue block", 0.5, 0.1, yaw=0.5)
    scene, held = holding(scene_of, thing, below)

    release = on_top(scene, held, below)

    assert release.center == pytest.approx((0.5, 0.1))
    assert release.surface == pytest.approx(0.04)
    assert math.sin(2 * (release.grip.yaw + held.turn - 0.5)) == pytest.approx(0.0, abs=1e-6)


def test_stacking_beside_something_tall_turns_the_hand_out_of_its_way(scene_of: Any, thing: Any) -> None:
    below, vase = thing("blue block", 0.5, 0.0), thing("vase", 0.5, 0.07)
    scene, held = holding(scene_of, thing, below, vase)
    assert abs(math.sin(on_top(scene, held, below).grip.yaw + held.turn)) == pytest.approx(1.0, abs=1e-6)


def test_stacking_between_tall_things_is_refused(scene_of: Any, thing: Any) -> None:
    below = thing("blue block", 0.5, 0.0)
    towers = [replace(thing(f"{c} vase", 0.5 + x, y), size=(0.048, 0.048, 0.3), position=(0.5 + x, y, 0.15))
              for c, x, y in (("red", 0.06, 0), ("pink", -0.06, 0), ("blue", 0, 0.06), ("cyan", 0, -0.06))]  # fmt: skip
    scene, held = holding(scene_of, thing, below, *towers)
    with pytest.raises(SkillError, match="does not fit above the blue block: its neighbours are too tall") as e:
        on_top(scene, held, below)
    assert e.value.code is SkillErrorCode.NO_FREE_SPACE


def test_a_bowl_held_by_its_rim_is_not_put_where_the_hand_does_not_reach(scene_of: Any, thing: Any) -> None:
    far = thing("blue block", 0.785, 0.0)
    scene = scene_of(thing("green bowl", 0.4, 0.058, z=0.3), far, held="green bowl")
    held = held_in(scene, HandPose(0.4, 0.0, 0.31, math.pi / 2), 0.006)
    held = replace(held, offset=(0.0, 3.0))
    with pytest.raises(SkillError, match="the hand does not reach over the blue block with what it holds") as e:
        on_top(scene, held, far)
    assert e.value.code is SkillErrorCode.UNREACHABLE
    assert not list(on_table(scene, held, [(0.5, 0.0)], ()))


def test_a_spot_on_the_table_is_free_and_in_its_region(scene_of: Any, thing: Any) -> None:
    area = region("top left corner")
    taken = thing("blue bowl", *area.anchor)
    scene, held = holding(scene_of, thing, taken)

    release = next(on_table(scene, held, spread(area.area, area.anchor), ()))

    body = held.shape_at(release.center, release.grip.yaw)
    assert separation(body, footprint(taken)) >= 0.019
    moved = [replace(item, position=(*release.center, 0.02)) for item in scene.objects if item.name == "red block"]
    assert at(Scene(0.0, tuple(moved)), "red block", "top left corner")


def test_a_full_region_has_no_spot(scene_of: Any, thing: Any) -> None:
    area = region("top left corner").area
    bowls = [thing(f"bowl{k} bowl", x, y) for k, (x, y) in enumerate(spread(area, area.center))]
    scene, held = holding(scene_of, thing, *bowls)
    assert not list(on_table(scene, held, spread(area, area.center), ()))


def test_places_are_tried_from_the_nearest_to_the_farthest() -> None:
    points = spread(WORKSPACE, (0.4, 0.1))
    distances = [math.dist(point, (0.4, 0.1)) for point in points]
    assert points[0] == (0.4, 0.1)
    assert distances == sorted(distances)


def test_a_block_goes_to_the_floor_of_an_empty_bowl(scene_of: Any, thing: Any) -> None:
    bowl = thing("green bowl", 0.5, 0.1)
    scene, held = holding(scene_of, thing, bowl)

    release = inside(scene, held, bowl)

    assert math.dist(release.center, (0.5, 0.1)) < 0.025
    assert release.grip.z - held.below < 0.03


def test_a_second_thing_in_a_bowl_is_let_go_above_the_first_or_beside_it(scene_of: Any, thing: Any) -> None:
    bowl, first = thing("green bowl", 0.5, 0.1), thing("blue block", 0.5, 0.1, z=0.026)
    scene, held = holding(scene_of, thing, bowl, first)

    release = inside(scene, held, bowl)

    body = held.shape_at(release.center, release.grip.yaw)
    clear = separation(body, footprint(first)) > -0.001
    assert clear or release.grip.z - held.below >= 0.046


def test_what_is_wider_than_a_container_does_not_go_in(scene_of: Any, thing: Any) -> None:
    mug = replace(thing("blue vase", 0.5, 0.1), name="mug", kind="mug")
    scene, held = holding(scene_of, thing, mug, name="green bowl")
    with pytest.raises(SkillError, match="the green bowl does not fit into the mug") as e:
        inside(scene, held, mug)
    assert e.value.code is SkillErrorCode.NO_FREE_SPACE
