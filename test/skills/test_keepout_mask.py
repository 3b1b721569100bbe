"""The keep-out mask for a navigation system: what rules close to the centre of the base."""

from __future__ import annotations

import math

import numpy as np

from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Pose, Room
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.floor_paths import REST
from llm_planner.skills.keepout_mask import RESOLUTION, distance_from, gaps_of, is_entered, keepout_mask

BUILDING = Building(
    (Room("hall", Rectangle(-3.0, 0.0, -2.0, 2.0)), Room("lab", Rectangle(0.0, 4.0, -2.0, 2.0))),
    (Door(("hall", "lab"), (0.0, 0.0)),),
)
LAB = Zone("the lab", Shape.BOX, (2.0, 2.0, 5.0), Pose((2.0, 0.0, 0.0)), 0.0, Subject.GRIPPER)
ANNA = Zone("Anna", Shape.BOX, (0.2, 0.2, 5.0), Pose((-1.5, 0.0, 0.0)), 0.5, Subject.GRIPPER)
AWAY = (-2.5, -1.5)


def closed(zones, x, y, here=AWAY) -> bool:
    mask = keepout_mask(BUILDING, gaps_of(zones, here))
    column, row = (math.floor((at - first) / mask.resolution) for at, first in zip((x, y), mask.origin, strict=True))
    return bool(mask.closed[row, column])


def test_without_rules_everything_is_open():
    mask = keepout_mask(BUILDING, ())
    assert mask.origin == (-3.0, -2.0)
    assert mask.closed.shape == (80, 140)
    assert not mask.closed.any()


def test_a_closed_room_is_closed_to_its_edges_and_a_little_beyond():
    assert closed([LAB], 0.01, 0.0)
    assert closed([LAB], 3.99, -1.99)
    assert closed([LAB], -0.02, 0.0)
    assert not closed([LAB], -REST - 2 * RESOLUTION, 0.0)


def test_a_thing_is_closed_to_the_clearance_of_its_rule_and_for_the_whole_robot_by_its_radius_more():
    assert closed([ANNA], -1.5 + 0.2 + 0.5, 0.0)
    assert not closed([ANNA], -1.5 + 0.2 + 0.5 + REST + 2 * RESOLUTION, 0.0)
    whole = Zone(**{**vars(ANNA), "subject": Subject.ROBOT})
    assert closed([whole], -1.5 + 0.2 + 0.5 + BASE_RADIUS, 0.0)


def test_every_cell_that_is_open_is_outside_in_whole():
    mask = keepout_mask(BUILDING, gaps_of([ANNA], AWAY))
    rows, columns = np.nonzero(~mask.closed)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        corners = [
            (mask.origin[0] + RESOLUTION * (column + i), mask.origin[1] + RESOLUTION * (row + j))
            for i in (0, 1)
            for j in (0, 1)
        ]
        assert min(distance_from(ANNA, corner) for corner in corners) >= ANNA.clearance


def test_a_base_that_stands_at_the_edge_is_in_the_open_and_what_is_closed_stays_closed():
    here = (-0.03, 0.0)
    assert closed([LAB], *here)
    assert not closed([LAB], -0.06, 0.0, here)
    assert closed([LAB], 0.06, 0.0, here)


def test_a_base_that_people_have_come_close_to_may_leave():
    here = (-1.0, 0.0)  # 0.3 m from Anna, instead of 0.5
    assert not closed([ANNA], *here, here)
    assert not closed([ANNA], -0.9, 0.0, here)
    assert closed([ANNA], -1.2, 0.0, here)


def test_a_zone_is_entered_from_outside_only():
    assert is_entered(LAB, (-0.3, 0.0), (0.1, 0.0))
    assert not is_entered(LAB, (-0.3, 0.0), (-0.2, 0.0))
    assert not is_entered(LAB, (0.1, 0.0), (0.3, 0.0)), "it is in it already"
    assert not is_entered(LAB, (0.1, 0.0), (-0.3, 0.0))
