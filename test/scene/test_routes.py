"""Ways through a building."""

import math

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.free_space import distance, shortest_route
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Room

# Four rooms in a square, with doors all around it, and a cellar without one.
#   lab     | office
#   kitchen | hall     cellar
SQUARE = Building(
    rooms=(
        Room("kitchen", Rectangle(0.0, 4.0, 0.0, 4.0)),
        Room("hall", Rectangle(4.0, 8.0, 0.0, 4.0)),
        Room("lab", Rectangle(0.0, 4.0, 4.0, 8.0)),
        Room("office", Rectangle(4.0, 8.0, 4.0, 8.0)),
        Room("cellar", Rectangle(20.0, 22.0, 0.0, 2.0)),
    ),
    doors=(
        Door(("kitchen", "hall"), (4.0, 2.0)),
        Door(("hall", "office"), (6.0, 4.0)),
        Door(("office", "lab"), (4.0, 6.0)),
        Door(("lab", "kitchen"), (1.0, 4.0)),
    ),
)


def test_inside_a_room_the_way_is_straight():
    route = shortest_route(SQUARE, (1.0, 1.0), (3.0, 3.0))
    assert route.points == ((1.0, 1.0), (3.0, 3.0))
    assert route.rooms == ("kitchen",)
    assert route.length == pytest.approx(math.sqrt(8))


def test_who_is_there_already_goes_nowhere():
    route = shortest_route(SQUARE, (1.0, 1.0), (1.0, 1.0))
    assert (route.length, route.rooms) == (0.0, ("kitchen",))


def test_a_way_through_a_door_bends_at_its_middle():
    assert shortest_route(SQUARE, (2.0, 2.0), (6.0, 2.0)).points == ((2.0, 2.0), (4.0, 2.0), (6.0, 2.0))


@pytest.mark.parametrize(
    ("start", "rooms"),
    [((3.9, 2.0), ("kitchen", "hall", "office")), ((1.0, 3.9), ("kitchen", "lab", "office"))],
)
def test_of_two_ways_around_the_shorter_one_is_taken(start, rooms):
    assert shortest_route(SQUARE, start, SQUARE.find("office").area.center).rooms == rooms


def test_a_way_along_a_wall_leads_through_no_other_door_of_it():
    low, high = Rectangle(0.0, 6.0, 0.0, 2.0), [Rectangle(2.0 * k, 2.0 * k + 2.0, 2.0, 4.0) for k in range(3)]
    rooms = (
        Room("hall", low),
        *(Room(name, area) for name, area in zip(("lab", "library", "office"), high, strict=True)),
    )
    doors = tuple(Door(("hall", room.name), (room.area.center[0], 2.0)) for room in rooms[1:])
    assert shortest_route(Building(rooms, doors), (1.0, 3.0), (5.0, 3.0)).rooms == ("lab", "hall", "office")


def test_the_distance_is_that_of_the_way_not_of_the_bird():
    assert distance(SQUARE, (2.0, 2.0), (6.0, 6.0)) == pytest.approx(
        min(2 + math.hypot(2, 2) + 2, math.hypot(1, 2) + math.hypot(3, 2) + 2)
    )


def test_a_room_without_a_door_cannot_be_reached():
    with pytest.raises(InputError, match="no doors lead from the kitchen to the cellar"):
        shortest_route(SQUARE, (1.0, 1.0), SQUARE.find("cellar").area.center)


def test_a_room_that_is_not_there_is_told_with_the_rooms_that_are():
    with pytest.raises(InputError, match="no room 'attic'; the rooms are: kitchen, hall, lab, office, cellar"):
        SQUARE.find("attic")


def test_a_point_outside_is_in_no_room():
    with pytest.raises(InputError, match=r"the point \(9\.00, 1\.00\) lies outside the building"):
        distance(SQUARE, (1.0, 1.0), (9.0, 1.0))
