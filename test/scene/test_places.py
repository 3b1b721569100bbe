"""Directions, regions and viewpoints of the table."""

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.places import (
    BEHIND,
    DIRECTIONS,
    REGIONS,
    VIEWPOINTS,
    WORKSPACE,
    Rectangle,
    direction_vector,
    region,
    scale_of,
    viewpoint,
)
from llm_planner.scene.scene import Scene


def test_directions_follow_ros_for_a_person_behind_the_robot():
    assert direction_vector("left") == (0.0, 1.0)
    assert direction_vector("right") == (0.0, -1.0)
    assert direction_vector("top") == (1.0, 0.0)
    assert direction_vector("bottom") == (-1.0, 0.0)


def test_an_unknown_direction_is_refused_with_the_directions():
    with pytest.raises(InputError, match=r"'up' is not a direction; the directions are: top, left, bottom, right"):
        direction_vector("up")


def test_an_unknown_region_is_refused_with_the_regions():
    with pytest.raises(InputError, match=r"no place called 'kitchen'; the places are: top left corner"):
        region("kitchen")


def test_an_unknown_viewpoint_is_refused_with_the_viewpoints():
    with pytest.raises(InputError, match=r"'above' is not a viewpoint; choose one of: behind, facing, left, right"):
        viewpoint("above")


@pytest.mark.parametrize("name", REGIONS)
def test_every_region_lies_in_the_workspace_and_holds_its_anchor(name):
    area = region(name).area
    assert WORKSPACE.contains(area.x_min, area.y_min)
    assert WORKSPACE.contains(area.x_max, area.y_max)
    assert area.contains(*region(name).anchor)


def test_the_regions_of_a_short_arm_divide_its_own_workspace():
    short = Rectangle(0.05, 0.23, -0.2, 0.2)
    assert scale_of(short) == 0.5
    assert region("left side", short).area == Rectangle(0.05, 0.23, 0.2 - 0.4 / 3, 0.2)
    assert VIEWPOINTS["facing"].region("left side", short) == region("right side", short)
    here = Scene(0.0, (), workspace=short)
    assert (here.scale, here.region("middle").anchor) == (0.5, pytest.approx((0.14, 0.0)))


def test_a_workspace_as_large_as_that_of_a_large_arm_changes_no_size():
    assert scale_of(WORKSPACE) == 1.0
    assert scale_of(Rectangle(0.2, 1.2, -0.8, 0.8)) == 1.0


def test_the_left_side_is_left_and_the_top_is_far():
    assert region("left side").anchor[1] > 0.2
    assert region("top side").anchor[0] > WORKSPACE.center[0]
    x, y = region("bottom right corner").anchor
    assert x < WORKSPACE.center[0]
    assert y < -0.2


def test_the_margin_lets_a_point_lie_just_outside():
    assert not WORKSPACE.contains(WORKSPACE.x_max + 0.01, 0.0)
    assert WORKSPACE.contains(WORKSPACE.x_max + 0.01, 0.0, margin=0.02)


@pytest.mark.parametrize("word", [*DIRECTIONS, *REGIONS])
def test_a_person_behind_the_robot_needs_no_translation(word):
    assert BEHIND.to_base(word) == word


def test_for_a_person_facing_the_robot_everything_is_turned_round():
    facing = viewpoint("facing")
    assert facing.direction("left") == direction_vector("right")
    assert facing.to_base("top left corner") == "bottom right corner"
    assert facing.region("middle") == region("middle")


def test_a_person_at_the_robots_left_has_its_right_far_away_and_its_front_to_the_left():
    left = viewpoint("left")
    assert left.direction("top") == direction_vector("right")
    assert left.direction("left") == direction_vector("top")


@pytest.mark.parametrize("name", VIEWPOINTS)
def test_every_viewpoint_maps_the_words_one_to_one(name):
    chosen = viewpoint(name)
    assert {chosen.to_base(word) for word in REGIONS} == set(REGIONS)
    assert {chosen.to_base(word) for word in DIRECTIONS} == set(DIRECTIONS)
    assert all(chosen.from_base(chosen.to_base(word)) == word for word in (*REGIONS, *DIRECTIONS))


def test_other_words_are_left_alone():
    assert viewpoint("facing").to_base("red block") == "red block"
