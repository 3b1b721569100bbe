"""A table known from detections: names stay with things, what the fingers close on is held."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from llm_planner.ros.detected_table import DetectedTable, Detection
from llm_planner.scene.scene import Pose

SIZE = (0.04, 0.04, 0.04)
DOWN = (1.0, 0.0, 0.0, 0.0)  # of a hand that points straight down


def at(x: float, y: float = 0.0, label: str = "red block", track: str = "") -> Detection:
    return Detection(label, Pose((x, y, 0.02)), SIZE, track)


def hand(x: float, y: float = 0.0, z: float = 0.02) -> Pose:
    return Pose((x, y, z), DOWN)


OVER = hand(0.5)


def places(table: DetectedTable) -> dict[str, tuple[float, float]]:
    return {item.name: item.position[:2] for item in table.objects}


@pytest.fixture
def table() -> DetectedTable:
    return DetectedTable(memory=10.0)


def test_the_words_of_a_label_are_name_colour_and_kind(table):
    table.see([at(0.5), at(0.6, label="coffee mug"), at(0.7, label="orange")], 0.0)
    assert [(item.name, item.color, item.kind) for item in table.objects] == [
        ("red block", "red", "block"),
        ("coffee mug", "", "coffee mug"),
        ("orange", "", "orange"),
    ]


def test_things_that_look_alike_keep_their_names_in_any_order(table):
    table.see([at(0.5, -0.1), at(0.5, 0.1)], 0.0)
    table.see([at(0.5, 0.11), at(0.51, -0.1)], 0.1)
    assert places(table) == {"red block": (0.51, -0.1), "red block 2": (0.5, 0.11)}


def test_the_only_one_of_its_kind_keeps_its_name_wherever_it_is_put(table):
    table.see([at(0.3)], 0.0)
    table.see([at(0.7, 0.4)], 0.1)
    assert places(table) == {"red block": (0.7, 0.4)}


def test_a_track_tells_things_apart_that_change_places(table):
    table.see([at(0.5, -0.1, track="a"), at(0.5, 0.1, track="b")], 0.0)
    table.see([at(0.5, 0.1, track="a"), at(0.5, -0.1, track="b")], 0.1)
    assert places(table) == {"red block": (0.5, 0.1), "red block 2": (0.5, -0.1)}


def test_a_thing_that_got_a_new_track_is_still_the_same(table):
    table.see([at(0.5, track="a")], 0.0)
    table.see([at(0.51, track="z")], 0.1)
    assert places(table) == {"red block": (0.51, 0.0)}


def test_a_hidden_thing_stays_and_is_forgotten_in_time(table):
    table.see([at(0.5)], 0.0)
    table.see([], 9.0)
    assert places(table) == {"red block": (0.5, 0.0)}
    table.see([], 10.1)
    assert places(table) == {}


def grasp(table: DetectedTable, place: Pose = OVER, width: float = 0.04, wanted: float = 0.028) -> None:
    for tick in range(4):
        table.feel(place, width, wanted, 1.0 + 0.1 * tick)


def test_what_stops_the_fingers_is_held_and_moves_with_the_hand(table):
    table.see([at(0.5), at(0.3, label="green bowl")], 0.0)
    grasp(table)
    assert table.held == "red block"
    table.feel(hand(0.4, 0.2, 0.3), 0.04, 0.028, 2.0)
    (block, _) = table.objects
    assert block.position == pytest.approx((0.4, 0.2, 0.3))
    table.see([at(0.5), at(0.3, label="green bowl")], 2.1)
    assert table.objects[0].position == pytest.approx((0.4, 0.2, 0.3)), "the hand knows better than the camera"


def test_it_is_held_as_it_was_grasped(table):
    table.see([at(0.505)], 0.0)
    grasp(table)
    turned = replace(hand(0.0), orientation=(math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0))
    table.feel(turned, 0.04, 0.028, 2.0)
    assert table.objects[0].position == pytest.approx((0.0, 0.005, 0.02))


def test_it_is_released_where_the_fingers_open(table):
    table.see([at(0.5)], 0.0)
    grasp(table)
    table.feel(hand(0.6), 0.045, 0.08, 2.0)
    assert table.held == ""
    assert places(table) == {"red block": pytest.approx((0.6, 0.0))}


def test_it_is_lost_when_the_fingers_close_further(table):
    table.see([at(0.5)], 0.0)
    grasp(table)
    table.feel(hand(0.6), 0.03, 0.028, 2.0)
    assert table.held == ""


@pytest.mark.parametrize(
    ("why", "place", "width", "wanted"),
    [
        ("the fingers are where they were sent", hand(0.5), 0.028, 0.028),
        ("they are open", hand(0.5), 0.04, 0.08),
        ("nothing is between them", hand(0.5, 0.1), 0.04, 0.028),
        ("the hand is above it", hand(0.5, 0.0, 0.06), 0.04, 0.028),
        ("their width is not known", hand(0.5), math.nan, 0.028),
        ("nobody has said how wide they should be", hand(0.5), 0.04, math.nan),
    ],
)
def test_nothing_is_held_where(table, why, place, width, wanted):
    table.see([at(0.5)], 0.0)
    grasp(table, place, width, wanted)
    assert table.held == "", why


def test_moving_fingers_hold_nothing(table):
    table.see([at(0.5)], 0.0)
    for tick in range(5):
        table.feel(hand(0.5), 0.08 - 0.01 * tick, 0.028, 1.0 + 0.1 * tick)
    assert table.held == ""


def test_a_width_that_is_not_known_for_a_while_releases_nothing(table):
    table.see([at(0.5)], 0.0)
    grasp(table)
    table.feel(hand(0.6), math.nan, 0.028, 2.0)
    assert table.held == "red block"
