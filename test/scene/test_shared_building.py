"""Two bases in one building: where they start, and what each keeps out of."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Room
from llm_planner.scene.shared_building import SharedBuilding, Start, rooms_along
from llm_planner.scene.zones import Shape

BUILDING = Building(
    (Room("library", Rectangle(-4.5, -1.5, -1.5, 1.5)), Room("hall", Rectangle(-1.5, 1.5, -1.5, 1.5))),
    (Door(("library", "hall"), (-1.5, 0.0)),),
)
LEFT, RIGHT = Start("left", -3.0, 0.0), Start("right", 0.0, 0.0)


def test_each_room_is_a_zone_that_is_shared_with_the_neighbour():
    shared = SharedBuilding((LEFT, RIGHT), BUILDING)
    library, hall = shared.boundaries("left")
    assert (library.strip, library.neighbour, library.far) == ("library", "right", None)
    assert (library.near.name, library.near.shape, library.near.size[:2]) == ("the library", Shape.BOX, (1.5, 1.5))
    assert library.near.pose.position == (-3.0, 0.0, 0.0)
    assert (hall.strip, hall.near.name) == ("hall", "the hall")
    assert shared.boundaries("right")[0].near == library.near
    with pytest.raises(InputError, match="no robot 'up' in this building; its robots are: left, right"):
        shared.boundaries("up")


@pytest.mark.parametrize(
    ("starts", "why"),
    [
        ((LEFT,), "needs two robots with different names, not left"),
        ((LEFT, Start("left", 0.0, 0.0)), "needs two robots with different names, not left, left"),
        ((LEFT, Start("right", 9.0, 0.0)), r"'right' at \(9, 0\) is in no room; the rooms are: library, hall"),
        ((LEFT, Start("right", -2.0, 0.0)), "left and right start in one room, the library"),
    ],
)
def test_two_bases_start_in_different_rooms(starts, why):
    with pytest.raises(InputError, match=why):
        SharedBuilding(starts, BUILDING)


def test_a_path_passes_rooms_in_order():
    path = [(-3.0, 0.0), (-1.9, 0.0), (-1.1, 0.0), (0.0, 1.0)]
    assert rooms_along(BUILDING, path) == ("library", "hall")
