"""Sides of a table that several arms share: who may be where, with and without the strip."""

from __future__ import annotations

import math

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose
from llm_planner.scene.shared_table import EXTENT, SharedTable, Station

TABLE = SharedTable((Station("left", "panda", 0.0, 0.5), Station("right", "ur5e", 0.0, -0.5, math.pi / 2)), strip=0.3)


def inside(zone, station: Station, x: float, y: float) -> bool:
    """Whether a zone in the base frame of an arm has the point (x, y, 0.2) of the table in it."""
    at = compose(inverse(station.base), Pose((x, y, 0.2)))
    local = compose(inverse(zone.pose), at).position
    return all(abs(value) < EXTENT for value in local)


@pytest.mark.parametrize(
    ("y", "near", "far"), [(0.3, [False, True], [False, True]), (0.0, [True, True], [False, False])]
)
def test_each_arm_keeps_out_of_the_strip_and_of_what_lies_beyond_unless_it_has_the_strip(y, near, far):
    boundaries = {station: TABLE.boundaries(station.name)[0] for station in TABLE.stations}
    assert [inside(one.near, station, 0.4, y) for station, one in boundaries.items()] == near
    assert [inside(one.far, station, 0.4, y) for station, one in boundaries.items()] == far


def test_both_know_the_strip_between_them_by_one_name():
    left, right = (TABLE.boundaries(name)[0] for name in TABLE.names)
    assert left.strip == right.strip == "left and right"
    assert (left.neighbour, right.neighbour) == ("right", "left")
    assert left.far.name == "the side of right"


def test_room_is_measured_from_the_edge_in_force():
    assert TABLE.room("left", 0.4, 0.4, reserved=False) == pytest.approx(0.24)  # 1 cm less than to the edge
    assert TABLE.room("left", 0.4, 0.4, reserved=True) == pytest.approx(0.54)
    assert TABLE.room("right", 0.4, 0.4, reserved=True) == pytest.approx(-0.26)


def test_an_arrangement_that_is_not_possible_is_refused():
    with pytest.raises(InputError, match="different names, not left, left"):
        SharedTable((Station("left", "panda", 0.0, 0.0), Station("left", "panda", 1.0, 0.0)))
    with pytest.raises(InputError, match="there is no robot 'middle' at this table; its robots are: left, right"):
        TABLE.boundaries("middle")
