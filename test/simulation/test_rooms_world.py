"""The world `rooms`: a building with a mobile base, things and people."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_RADIUS, CLOSED_WIDTH, GRIP_REACH, OPEN_WIDTH
from llm_planner.robots.motion import JointTrajectory
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.names import check_names
from llm_planner.simulation.rooms.building_plan import draw_building, walls
from llm_planner.simulation.rooms.model import PERSON, THINGS, default_things, draw_places, parse_things, thing_color
from llm_planner.simulation.worlds import open_world, read_objects

SEEDS = range(8)


@pytest.fixture
def world():
    return open_world("rooms", 3, rooms=9)


def stand_before(world, name):
    """Puts the base where the thing is between its fingers."""
    x, y, _ = world.scene().find(name).position
    world.data.qpos[:] = (x - GRIP_REACH, y, 0.0)


@pytest.mark.parametrize("rooms", [8, 12])
def test_a_building_has_the_rooms_asked_for_and_the_robot_stands_in_its_hall(rooms):
    scene = open_world("rooms", 1, rooms=rooms).scene()
    assert len(scene.building.rooms) == rooms
    assert (scene.robot_kind, scene.robot_room, scene.speed, scene.held) == ("mobile", "hall", 0.0, "")


def test_without_a_number_the_seed_decides_on_the_rooms():
    assert {len(open_world("rooms", seed).scene().building.rooms) for seed in range(40)} == {8, 9, 10, 11, 12}


def test_a_seed_stands_for_one_world():
    assert open_world("rooms", 5).scene() == open_world("rooms", 5).scene() != open_world("rooms", 6).scene()


@pytest.mark.parametrize("seed", SEEDS)
def test_everybody_and_everything_is_in_a_room_apart_and_has_a_name_that_can_be_said(seed):
    scene = open_world("rooms", seed).scene()
    check_names(scene)
    assert sum(item.kind == PERSON for item in scene.objects) == 3
    for item in scene.objects:
        assert scene.building.room_at(*item.position[:2])
        assert item.position[2] == pytest.approx(item.size[2] / 2)
    for a, b in combinations(scene.objects, 2):
        assert math.dist(a.position[:2], b.position[:2]) > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_two_things_of_one_kind_have_colours_and_others_need_none(seed):
    things = [item for item in open_world("rooms", seed).scene().objects if item.kind != PERSON]
    colored = [item for item in things if item.color]
    assert len(colored) == 2
    assert colored[0].kind == colored[1].kind
    assert len({item.kind for item in things}) == len(things) - 1


def test_driving_forward_goes_where_the_base_faces(world):
    x, y, _ = world.data.qpos
    world.data.qpos[2] = math.pi / 2
    world.drive((0.5, 0.0, 0.0), 1.0)
    assert world.data.qpos[0] == pytest.approx(x, abs=1e-3)
    assert 0.4 < world.data.qpos[1] - y < 0.5
    assert world.scene().speed == pytest.approx(0.5, abs=0.01)


def test_a_trajectory_is_followed_in_the_map(world):
    start = world.joint_state().qpos
    velocity = np.array([0.3, -0.2, 0.5])
    qvel = np.tile(velocity, (11, 1))
    qpos = start + 0.1 * np.arange(11)[:, None] * velocity
    world.follow(JointTrajectory(0.0, 0.1, qpos, qvel, np.zeros((10, 3)), float("nan")), 1.0)
    assert world.joint_state().qpos - start == pytest.approx(velocity, abs=0.05)
    assert world.time == pytest.approx(1.0)


def test_no_command_makes_the_base_faster_than_it_is(world):
    world.drive((100.0, 100.0, 100.0), 0.8)
    assert world.limit_watch.qacc_ratio.max() <= 1.001
    assert math.hypot(*world.data.qvel[:2]) <= world.limits.qvel_max[0] + 1e-6


def test_a_wall_stops_the_base(world):
    area = world.building.find("hall").area
    door_free = next(
        x for x in np.arange(area.x_min + 0.6, area.x_max, 0.1)
        if all(abs(x - door.position[0]) > 1.2 for door in world.building.doors if door.position[1] == area.y_max)
    )  # fmt: skip
    world.data.qpos[:2] = (door_free, area.center[1])
    world.drive((0.0, 1.0, 0.0), 4.0)
    assert area.y_max - BASE_RADIUS - 0.1 < world.data.qpos[1] < area.y_max - BASE_RADIUS


def test_a_door_lets_the_base_through(world):
    door = next(door for door in world.building.doors if "hall" in door.rooms and door.rooms != ("hall", "lobby"))
    (across,) = {name for name in door.rooms if name != "hall"}
    side = math.copysign(1.0, world.building.find(across).area.center[1] - door.position[1])
    world.data.qpos[:2] = (door.position[0], door.position[1] - 0.7 * side)
    assert world.scene().robot_room == "hall"
    world.drive((0.0, 0.7 * side, 0.0), 2.0)
    assert world.scene().robot_room == across


def test_closing_fingers_take_what_is_between_them_and_it_comes_along(world):
    name = world.scene().objects[0].name
    stand_before(world, name)
    world.grip(CLOSED_WIDTH)
    assert world.scene().held == name
    world.drive((-0.5, 0.0, 0.0), 0.5)
    item, robot = world.scene().find(name), world.scene().robot
    assert item.position[:2] == pytest.approx(robot.position[:2])
    assert item.position[2] > 0.3


def test_opening_fingers_put_it_down_in_front(world):
    name = world.scene().objects[0].name
    stand_before(world, name)
    before = world.scene().find(name).position
    world.grip(CLOSED_WIDTH)
    world.grip(float("nan"))
    assert world.scene().held == name
    world.grip(OPEN_WIDTH)
    assert world.scene().held == ""
    assert world.scene().find(name).position == pytest.approx(before)


def test_fingers_that_close_on_nothing_or_on_a_person_hold_nothing(world):
    world.grip(CLOSED_WIDTH)
    assert world.scene().held == ""
    world.grip(OPEN_WIDTH)
    stand_before(world, next(item.name for item in world.scene().objects if item.kind == PERSON))
    world.grip(CLOSED_WIDTH)
    assert world.scene().held == ""


def test_nothing_is_put_down_inside_a_wall(world):
    name = world.scene().objects[0].name
    stand_before(world, name)
    world.grip(CLOSED_WIDTH)
    area = world.building.find("hall").area
    world.data.qpos[:] = (area.x_min + 0.3, area.center[1], math.pi)
    world.grip(OPEN_WIDTH)
    assert world.scene().held == name


def test_a_world_can_be_laid_out_as_a_scene_shows(world):
    name = world.scene().objects[0].name
    stand_before(world, name)
    world.grip(CLOSED_WIDTH)
    world.drive((0.0, 0.0, 1.0), 0.7)
    shown = world.scene()
    copy = open_world("rooms", 7)
    copy.lay_out(shown)
    assert replace(copy.scene(), time=shown.time).held == name
    assert copy.scene().building == shown.building
    assert copy.scene().robot.position == pytest.approx(shown.robot.position)
    assert yaw_of(copy.scene().robot) == pytest.approx(yaw_of(shown.robot))


@pytest.mark.parametrize("seed", SEEDS)
def test_walls_close_every_room_but_for_its_doors(seed):
    building = draw_building(8 + seed % 5, np.random.default_rng(seed))
    pieces = walls(building)
    for door in building.doors:
        x, y = door.position
        blocked = [wall for wall in pieces if _contains(wall, x, y)]
        assert blocked == []
    for room in building.rooms:
        area = room.area
        for x, y in ((area.x_min, area.y_min), (area.x_max, area.y_max)):
            assert any(_contains(wall, x, y) for wall in pieces)


def _contains(wall, x, y):
    along, across = (x - wall.center[0], y - wall.center[1])[:: 1 if wall.axis == 0 else -1]
    return abs(along) <= wall.half_length + 1e-6 and abs(across) < 1e-6


def test_things_are_read_from_a_list_with_colours_and_people():
    named = parse_things("Red parcel, first aid kit, parcel; anna")
    assert [(item.name, item.kind, item.color) for item in named] == [
        ("red parcel", "parcel", "red"), ("first aid kit", "first aid kit", ""), ("parcel", "parcel", ""),
        ("Anna", PERSON, ""),
    ]  # fmt: skip


def test_the_words_of_a_list_depend_on_the_world():
    assert read_objects("rooms", "toolbox")[0].kind == "toolbox"
    with pytest.raises(InputError, match="there is no object kind 'toolbox'; the kinds are: block"):
        read_objects("tabletop", "toolbox")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" , ", "no object is named in"),
        ("red dragon", "cannot read the object 'red dragon'; write one of: parcel, mug"),
        ("person", "cannot read the object 'person'; write one of"),
        ("Anna, anna", "Anna is named twice in 'Anna, anna'"),
    ],
)
def test_a_wrong_list_is_told_with_the_choices(text, message):
    with pytest.raises(InputError, match=message):
        parse_things(text)


def test_too_many_things_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="400 things do not fit into this building; ask for fewer"):
        draw_places(draw_building(8, rng), parse_things(", ".join(["plant"] * 400)), rng)


def test_a_kind_that_is_not_known_here_is_refused(world):
    dragon = replace(world.scene().objects[0], kind="dragon")
    scene = replace(world.scene(), objects=(dragon,))
    with pytest.raises(InputError, match="there is no object kind 'dragon' in a building; the kinds are: parcel"):
        world.lay_out(scene)


def test_a_table_has_no_rooms():
    with pytest.raises(InputError, match="the world 'tabletop' has no rooms; leave their number out"):
        open_world("tabletop", rooms=8)


def test_every_thing_has_a_colour_and_every_person_clothes():
    for item in default_things(np.random.default_rng(0)):
        assert all(0.0 <= channel <= 1.0 for channel in thing_color(item))
        assert item.kind in THINGS


def test_the_base_faces_along_its_own_x():
    assert yaw_of(upright_pose(0.0, 0.0, -2.0)) == pytest.approx(-2.0)
