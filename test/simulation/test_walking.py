"""People who walk through the building, and the dock at its wall."""

import math
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.furniture import docking_pose
from llm_planner.simulation.rooms.model import WALL_THICKNESS, parse_things
from llm_planner.simulation.rooms.world import PERSONAL, Walk
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.floor_paths import walking_route

SPEED = 0.8


@pytest.fixture
def world():
    return open_world("rooms", 3, parse_things("Anna, red parcel, plant, dock"), rooms=9)


def where(world, name="Anna"):
    return world.scene().find(name).position[:2]


def walked(world, seconds, name="Anna"):
    """Where she is every tenth of a second."""
    places = [where(world, name)]
    for _ in range(round(10 * seconds)):
        world.drive((0.0, 0.0, 0.0), 0.1)
        places.append(where(world, name))
    return places


def test_who_is_told_to_walks_to_the_rooms_in_turn_and_stays_in_the_last(world):
    world.walk("Anna", walking_route(world.scene(), "Anna", ["lobby", "hall"]), SPEED)
    places = walked(world, 60)
    rooms = [world.building.room_at(*place) for place in places]
    assert "lobby" in rooms
    assert rooms[-1] == "hall"
    assert places[-1] == places[-10]


def test_she_walks_at_her_speed_and_upright_on_the_floor(world):
    world.walk("Anna", walking_route(world.scene(), "Anna", ["lobby"]), SPEED)
    steps = [math.dist(a, b) for a, b in pairwise(walked(world, 4))]
    assert max(steps) == pytest.approx(0.1 * SPEED, rel=1e-6)
    anna = world.scene().find("Anna")
    assert anna.position[2] == pytest.approx(anna.size[2] / 2)
    assert anna.orientation[:2] == (0.0, 0.0)


def test_she_does_not_walk_into_a_robot_that_stands_in_her_way(world):
    world.walk("Anna", walking_route(world.scene(), "Anna", ["lobby"]), SPEED)
    walked(world, 1)
    (x, y), later = where(world), walked(world, 0.2)[-1]
    ahead = math.atan2(later[1] - y, later[0] - x)
    world.data.qpos[:2] = (x + 1.5 * math.cos(ahead), y + 1.5 * math.sin(ahead))
    world.settle()
    walked(world, 5)
    assert math.dist(where(world), world.data.qpos[:2]) >= PERSONAL - 0.01


def test_what_the_robot_carries_does_not_walk(world):
    x, y = where(world, "red parcel")
    world.data.qpos[:] = (x - 0.5, y, 0.0)
    world.settle()
    world.walk("red parcel", walking_route(world.scene(), "red parcel", ["lobby"]), SPEED)
    world.grip(0.0)
    assert world.scene().held == "red parcel"
    assert len(set(walked(world, 1, "red parcel")[1:])) == 1


def test_a_reset_ends_every_walk(world):
    world.walk("Anna", walking_route(world.scene(), "Anna", ["lobby"]), SPEED)
    world.reset(3, world.objects)
    assert len(set(walked(world, 1))) == 1


@pytest.mark.parametrize(
    ("name", "rooms", "speed", "message"),
    [
        ("Zoe", ["hall"], 0.5, "there is no 'Zoe' to walk here; there are: red parcel, plant, dock, Anna"),
        ("Anna", [], 0.5, "nobody has said where Anna is to walk; name at least one room"),
        ("Anna", ["cellar"], 0.5, "there is no room 'cellar'; the rooms are: "),
        ("Anna", ["hall"], 0.0, "Anna cannot walk at 0 m/s; walk at more than 0 and at most 2 m/s"),
        ("Anna", ["hall"], 9.0, "Anna cannot walk at 9 m/s"),
    ],
)
def test_a_walk_that_makes_no_sense_is_refused(world, name, rooms, speed, message):
    with pytest.raises(InputError, match=message):
        world.walk(name, walking_route(world.scene(), name if name in world.scene().names else "Anna", rooms), speed)


def test_a_walk_that_is_over_goes_nowhere():
    with pytest.raises(ValueError, match="the walk is over; there is no corner left to walk to"):
        Walk((), 0.5).on((0.0, 0.0), (5.0, 5.0), 0.1)


@pytest.mark.parametrize("seed", range(6))
def test_a_dock_has_its_back_to_a_wall_and_free_floor_before_it(seed):
    world = open_world("rooms", seed)
    scene = world.scene()
    dock = scene.find("dock")
    area = world.building.find(world.building.room_at(*dock.position[:2])).area
    x, y, _ = dock.position
    walls = min(x - area.x_min, area.x_max - x, y - area.y_min, area.y_max - y)
    assert walls == pytest.approx((WALL_THICKNESS + dock.size[0]) / 2, abs=1e-3)
    for before in np.linspace(0.0, 0.7, 8):
        place = docking_pose(dock, float(before)).position[:2]
        assert area.contains(*place, -BASE_RADIUS - WALL_THICKNESS / 2)
        others = (item for item in scene.objects if item.name != "dock")
        assert all(
            math.dist(place, item.position[:2]) > 2 * BASE_RADIUS + math.hypot(*item.size[:2]) / 2 for item in others
        )


def test_a_base_in_the_dock_does_not_touch_it(world):
    x, y, _ = docking_pose(world.scene().find("dock")).position
    world.data.qpos[:2] = (x, y)
    world.settle()
    assert world.data.ncon == 0
