"""Buildings drawn from a seed."""

from itertools import combinations

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.scene.free_space import shortest_route
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Room
from llm_planner.simulation.rooms.building_plan import CORNER, DOOR_WIDTH, draw_building, shared_wall, walls

SEEDS = range(20)
BUILDINGS = [draw_building(8 + seed % 5, np.random.default_rng(seed)) for seed in SEEDS]


def reachable(building: Building, start: str, without: str = "") -> set[str]:
    reached, pending = {start}, [start]
    while pending:
        for room in building.neighbours(pending.pop()):
            if room not in reached and room != without:
                reached.add(room)
                pending.append(room)
    return reached


@pytest.mark.parametrize("rooms", range(8, 13))
def test_a_building_has_as_many_rooms_as_asked_for_each_with_its_name(rooms):
    building = draw_building(rooms, np.random.default_rng(0))
    assert len(set(building.names)) == len(building.rooms) == rooms
    assert "hall" in building.names


@pytest.mark.parametrize("building", BUILDINGS)
def test_doors_lead_from_every_room_to_every_other(building):
    for room in building.rooms:
        for other in building.names:
            route = shortest_route(building, room.area.center, building.find(other).area.center)
            assert route.rooms[-1] == other


@pytest.mark.parametrize("building", BUILDINGS)
def test_rooms_do_not_overlap_and_have_space_to_turn(building):
    for a, b in combinations([room.area for room in building.rooms], 2):
        assert a.x_max <= b.x_min or b.x_max <= a.x_min or a.y_max <= b.y_min or b.y_max <= a.y_min
    for room in building.rooms:
        assert min(room.area.x_max - room.area.x_min, room.area.y_max - room.area.y_min) > 2.0


@pytest.mark.parametrize("building", BUILDINGS)
def test_every_door_is_in_the_wall_of_its_rooms_and_not_in_a_corner(building):
    for door in building.doors:
        axis, across, low, high = shared_wall(*(building.find(name).area for name in door.rooms))
        assert door.position[1 - axis] == across
        assert low + DOOR_WIDTH / 2 + CORNER - 1e-3 <= door.position[axis] <= high - DOOR_WIDTH / 2 - CORNER + 1e-3


def test_most_rooms_can_be_gone_around():
    """Otherwise "never enter the lab" would often make a task impossible."""
    avoidable = [
        reachable(building, start, without=room) == set(building.names) - {room}
        for building in BUILDINGS
        for room in building.names
        for start in [next(name for name in building.names if name != room)]
    ]
    assert np.mean(avoidable) > 0.6


def test_the_same_seed_draws_the_same_building_and_another_seed_another():
    first, again, other = (draw_building(10, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("rooms", [7, 13])
def test_other_sizes_are_refused(rooms):
    with pytest.raises(InputError, match=f"a building has 8 to 12 rooms, not {rooms}"):
        draw_building(rooms, np.random.default_rng(0))


def test_two_doors_in_each_other_are_one_wide_opening():
    rooms = (Room("hall", Rectangle(0.0, 4.0, 0.0, 4.0)), Room("lab", Rectangle(4.0, 8.0, 0.0, 4.0)))
    doors = tuple(Door(("hall", "lab"), (4.0, y)) for y in (2.0, 2.1))
    shared = [wall for wall in walls(Building(rooms, doors)) if wall.axis == 1 and wall.center[0] == 4.0]
    assert sum(2 * wall.half_length for wall in shared) == pytest.approx(4.0 - DOOR_WIDTH - 0.1)
