"""What is true of a scene."""

import math
from dataclasses import replace

import pytest

from llm_planner.scene import predicates

BLOCK = 0.04


def test_a_block_on_another_is_on_it_and_not_the_other_way_round(thing, scene):
    now = scene(thing("red block", 0.4, 0.0, bottom=BLOCK), thing("blue block", 0.4, 0.0))
    assert predicates.on(now, "red block", "blue block")
    assert not predicates.on(now, "blue block", "red block")


@pytest.mark.parametrize("offset", [0.0, 0.015])
def test_a_block_stacked_askew_is_still_on_it(thing, scene, offset):
    now = scene(thing("red block", 0.4 + offset, 0.0, bottom=BLOCK, yaw=0.7), thing("blue block", 0.4, 0.0))
    assert predicates.on(now, "red block", "blue block")


def test_a_block_beside_or_above_another_is_not_on_it(thing, scene):
    below = thing("blue block", 0.4, 0.0)
    assert not predicates.on(scene(thing("red block", 0.44, 0.0), below), "red block", "blue block")
    assert not predicates.on(scene(thing("red block", 0.4, 0.0, bottom=0.1), below), "red block", "blue block")


def test_on_reads_the_top_of_a_block_that_has_been_tipped_onto_its_side(thing, scene):
    tipped = replace(
        thing("blue block", 0.4, 0.0, size=(0.08, 0.04, 0.04)),
        orientation=(0.0, math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4)),  # 90 degrees about y: it stands up
        position=(0.4, 0.0, 0.04),
    )
    now = scene(tipped, thing("red block", 0.4, 0.0, bottom=0.08))
    assert predicates.on(now, "red block", "blue block")


def test_nothing_is_on_itself(thing, scene):
    assert not predicates.on(scene(thing("red block", 0.4, 0.0)), "red block", "red block")


def test_a_held_block_is_neither_on_in_at_nor_beside_anything(thing, scene):
    now = scene(
        thing("red block", 0.4, 0.0, bottom=0.01),
        thing("red bowl", 0.4, 0.0),
        thing("blue block", 0.4, 0.08, bottom=0.0),
        held="red block",
    )
    assert not predicates.on(now, "red block", "red bowl")
    assert not predicates.in_(now, "red block", "red bowl")
    assert not predicates.at(now, "red block", "middle")
    assert not predicates.beside(now, "red block", "blue block")


def test_a_block_on_the_floor_of_a_bowl_is_in_it_and_on_it(thing, scene):
    now = scene(thing("red block", 0.41, 0.01, bottom=0.006), thing("red bowl", 0.4, 0.0))
    assert predicates.in_(now, "red block", "red bowl")
    assert predicates.on(now, "red block", "red bowl")


def test_a_pile_of_blocks_in_a_bowl_is_all_in_it(thing, scene):
    now = scene(
        thing("red block", 0.38, 0.0, bottom=0.006),
        thing("green block", 0.43, 0.0, bottom=0.006),
        thing("blue block", 0.40, 0.01, bottom=0.046),
        thing("yellow block", 0.40, -0.01, bottom=0.086),
        thing("red bowl", 0.4, 0.0),
    )
    assert predicates.contents(now, "red bowl") == ("red block", "green block", "blue block", "yellow block")
    assert not predicates.in_(now, "red bowl", "red bowl")


def test_a_block_above_a_bowl_touching_nothing_is_not_in_it(thing, scene):
    now = scene(thing("red block", 0.4, 0.0, bottom=0.09), thing("red bowl", 0.4, 0.0))
    assert not predicates.in_(now, "red block", "red bowl")


def test_a_block_next_to_a_bowl_is_not_in_it(thing, scene):
    now = scene(thing("red block", 0.4, 0.085), thing("red bowl", 0.4, 0.0))
    assert not predicates.in_(now, "red block", "red bowl")


def test_the_block_that_a_bowl_stands_on_is_not_in_the_bowl(thing, scene):
    now = scene(thing("red block", 0.4, 0.0), thing("red bowl", 0.4, 0.0, bottom=BLOCK))
    assert not predicates.in_(now, "red block", "red bowl")
    assert predicates.on(now, "red bowl", "red block")


def test_nothing_is_in_a_block(thing, scene):
    now = scene(thing("red block", 0.4, 0.0, bottom=BLOCK), thing("blue block", 0.4, 0.0))
    assert not predicates.in_(now, "red block", "blue block")


def test_clear_means_nothing_on_or_in_it(thing, scene):
    now = scene(thing("red block", 0.4, 0.0, bottom=BLOCK), thing("blue block", 0.4, 0.0), thing("red bowl", 0.5, 0.2))
    assert predicates.clear(now, "red block")
    assert predicates.clear(now, "red bowl")
    assert not predicates.clear(now, "blue block")


def test_at_a_region_is_where_its_rectangle_is_give_or_take_a_finger(thing, scene):
    now = scene(thing("red block", 0.6, 0.35), thing("blue block", 0.45, 0.11))
    assert predicates.at(now, "red block", "top left corner")
    assert predicates.at(now, "red block", "left side")
    assert not predicates.at(now, "red block", "right side")
    assert predicates.at(now, "blue block", "left side")  # 2 cm outside
    assert not predicates.at(now, "blue block", "top left corner")


def test_at_a_point_is_within_one_block_width(thing, scene):
    now = scene(thing("red block", 0.4, 0.1))
    assert predicates.at(now, "red block", (0.42, 0.12, 0.0))
    assert not predicates.at(now, "red block", (0.45, 0.1))


def test_held_names_what_is_in_the_gripper(thing, scene):
    now = scene(thing("red block", 0.4, 0.1), thing("blue block", 0.5, 0.1), held="red block")
    assert predicates.held(now, "red block")
    assert not predicates.held(now, "blue block")


def test_beside_needs_the_side_and_the_gap_that_were_asked_for(thing, scene):
    now = scene(thing("red block", 0.4, 0.08), thing("blue block", 0.4, 0.0))  # 4 cm of table between them
    assert predicates.beside(now, "red block", "blue block")
    assert predicates.beside(now, "red block", "blue block", "left", 0.04)
    assert predicates.beside(now, "red block", "blue block", "any", 0.04)
    assert not predicates.beside(now, "red block", "blue block", "any", 0.1)
    assert not predicates.beside(now, "red block", "blue block", "left", 0.1)
    assert not predicates.beside(now, "red block", "blue block", "right", 0.04)


def test_beside_is_neither_far_away_nor_diagonal(thing, scene):
    blue = thing("blue block", 0.4, 0.0)
    assert not predicates.beside(scene(thing("red block", 0.4, 0.3), blue), "red block", "blue block")
    assert not predicates.beside(scene(thing("red block", 0.5, 0.1), blue), "red block", "blue block")
    assert not predicates.beside(scene(blue), "blue block", "blue block")


def test_moved_measures_from_where_it_was(thing, scene):
    now = scene(thing("red block", 0.4, 0.1))
    assert predicates.moved((0.4, 0.0), now, "red block", "left", 0.1)
    assert predicates.moved((0.5, 0.1), now, "red block", "bottom", 0.1)
    assert not predicates.moved((0.4, 0.0), now, "red block", "right", 0.1)


def test_what_was_put_elsewhere_as_far_along_is_not_what_a_push_does(thing, scene):
    assert predicates.moved((0.4, 0.0), scene(thing("vase", 0.44, 0.1)), "vase", "left", 0.1)  # it rolls aside
    assert not predicates.moved((0.4, 0.0), scene(thing("vase", 0.46, 0.1)), "vase", "left", 0.1)
    assert not predicates.moved((0.4, 0.0), scene(thing("vase", 0.34, 0.1)), "vase", "left", 0.1)


def test_what_is_put_down_at_a_distance_lies_there_to_within_15_mm_along_and_across(thing, scene):
    for x, y, there in ((0.4, 0.1, True), (0.41, 0.09, True), (0.4, 0.08, False), (0.42, 0.1, False)):
        now = scene(thing("red block", x, y))
        assert predicates.displaced((0.4, 0.0), now, "red block", "left", 0.1) is there
        assert predicates.moved((0.4, 0.0), now, "red block", "left", 0.1)  # a push is allowed more
    held = scene(thing("red block", 0.4, 0.1), held="red block")
    assert not predicates.displaced((0.4, 0.0), held, "red block", "left", 0.1)


def test_on_side_prefers_what_lies_more_that_way_than_across(thing, scene):
    now = scene(thing("red block", 0.5, 0.05), thing("blue block", 0.42, 0.2))
    assert predicates.on_side(now, now.names, (0.0, 1.0), (0.4, 0.0)) == ("blue block", "red block")


def test_on_side_keeps_those_on_that_side_nearest_first(thing, scene):
    now = scene(thing("red block", 0.4, 0.3), thing("green block", 0.5, 0.1), thing("blue block", 0.4, -0.2))
    names = ("red block", "green block", "blue block")
    assert predicates.on_side(now, names, (0.0, 1.0), (0.4, 0.0)) == ("green block", "red block")
    assert predicates.on_side(now, names, (0.0, -1.0), (0.4, 0.0)) == ("blue block",)
    assert predicates.on_side(now, names, (0.0, 1.0), (0.4, 0.295)) == ()  # straight ahead is on neither side


def test_from_side_counts_from_that_side(thing, scene):
    now = scene(thing("red block", 0.4, -0.3), thing("green block", 0.5, 0.1), thing("blue block", 0.3, 0.2))
    names = ("red block", "green block", "blue block")
    assert predicates.from_side(now, names, (0.0, 1.0)) == ("blue block", "green block", "red block")
    assert predicates.from_side(now, names, (1.0, 0.0)) == ("green block", "red block", "blue block")


def test_an_unknown_name_lists_the_known_ones(thing, scene):
    with pytest.raises(KeyError, match=r"no object is called 'ghost' here; the scene holds: red block"):
        predicates.on(scene(thing("red block", 0.4, 0.0)), "ghost", "red block")
