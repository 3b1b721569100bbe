"""A mobile robot follows who walks through the rooms, and backs into its dock: as the simulator has it."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.scene.furniture import docked, docking_pose
from llm_planner.scene.geometry import distance_to_box, yaw_of
from llm_planner.scene.predicates import FOLLOWED
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.base import Base, BaseSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.floor_paths import walking_route
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()
CATCHING_UP = 5.0  # [s] that the robot has at the end
SUCCEEDED = SkillErrorCode.SUCCEEDED
LEAST = 0.35  # [m] between the robot's middle and the box of whom it follows: some 13 cm between their outsides


@pytest.fixture
def world():
    return open_world("rooms", 3, rooms=9)


@pytest.fixture
def walker(world):
    """A person, with the robot gone to her."""
    name = next(item.name for item in world.scene().objects if item.kind == "person")
    assert run(world, "go_to", destination=name).code is SUCCEEDED
    return name


def run(world, skill, cancelled=lambda seen: False, zones=(), **arguments):
    return Episode(world).run(LIBRARY.for_scene(world.scene()).find(skill), arguments, cancelled, zones)


def left(scene, name):
    return distance_to_box(scene.robot.position[:2], scene.find(name))


def following(world, name, distance=1.0, zones=(), **arguments):
    """How it ended, and how far from `name` the robot was at each moment [m]."""
    gaps = []

    def note(seen):
        gaps.append(left(seen.scene, name))
        return False

    return run(world, "follow", note, zones, object=name, distance=distance, **arguments), gaps


@pytest.mark.parametrize("distance", [0.8, 1.0, 2.0])
def test_who_walks_through_doors_is_followed_at_a_distance(world, walker, distance):
    start = world.building.room_at(*world.scene().find(walker).position[:2])
    far = [name for name in ("hall", "lobby") if name != start]
    world.walk(walker, walking_route(world.scene(), walker, far))
    result, gaps = following(world, walker, distance, seconds=30)
    assert result.code is SUCCEEDED
    assert abs(left(world.scene(), walker) - distance) <= FOLLOWED
    assert min(gaps) >= LEAST
    assert max(gaps[50:]) <= distance + 0.5, "it keeps up"
    assert world.building.room_at(*world.scene().find(walker).position[:2]) == far[-1]
    assert not world.limit_watch.exceeded, "it has hit something"


def test_where_she_stops_it_stops(world, walker):
    result, _ = following(world, walker, 1.5, seconds=8)
    assert result.code is SUCCEEDED
    assert left(world.scene(), walker) == pytest.approx(1.5, abs=0.12)
    assert world.scene().speed < 0.02


def test_it_faces_whom_it_follows(world, walker):
    following(world, walker, seconds=6)
    (x, y, _), robot = world.scene().find(walker).position, world.scene().robot
    bearing = math.atan2(y - robot.position[1], x - robot.position[0])
    assert math.remainder(yaw_of(robot) - bearing, math.tau) == pytest.approx(0.0, abs=0.05)


def test_who_comes_towards_it_is_given_way(world, walker):
    following(world, walker, 0.8, seconds=6)
    room = world.building.room_at(*world.scene().robot.position[:2])
    behind = world.building.neighbours(room)
    world.walk(walker, walking_route(world.scene(), walker, [*behind[:1], room]))
    result, gaps = following(world, walker, 0.8, seconds=20)
    assert result.code is SUCCEEDED
    assert min(gaps) >= LEAST


def test_who_is_faster_than_the_robot_may_be_is_lost(world, walker):
    slow = MotionConstraints(speed=0.2)
    here = world.scene().robot.position[:2]
    farthest = max(world.building.rooms, key=lambda room: math.dist(room.area.center, here))
    world.walk(walker, walking_route(world.scene(), walker, [farthest.name]), speed=1.2)
    arguments = {"object": walker, "seconds": 60}
    result = Episode(world).run(LIBRARY.find("follow"), arguments, in_force=lambda now, speed: slow)
    assert result.code is SkillErrorCode.OBJECT_LOST
    assert f"{walker} got away: it is" in result.message


def test_who_leaves_the_scene_is_lost(world, walker):
    seen = world.observation()
    script = LIBRARY.find("follow").start({"object": walker, "seconds": 5}, seen)
    gone = tuple(item for item in seen.scene.objects if item.name != walker)
    outcome = script.step(replace(seen, scene=replace(seen.scene, objects=gone)))
    assert (outcome.code, outcome.message) == (SkillErrorCode.OBJECT_LOST, f"{walker} is no longer in the scene")


def test_a_base_that_does_not_come_near_in_the_end_says_how_far_it_is(world, walker):
    """Told to drive, it does not move: nobody steps it."""
    seen = world.observation()
    script = LIBRARY.find("follow").start({"object": walker, "seconds": 1, "distance": 3.0}, seen)
    outcomes = [script.step(replace(seen, time=seen.time + 0.1 * k)) for k in range(int(10 * CATCHING_UP) + 30)]
    ended = next(outcome for outcome in outcomes if not hasattr(outcome, "poses"))
    assert ended.code is SkillErrorCode.EFFECT_MISSING
    assert f"from {walker} in the end, not 3 m" in ended.message


def around(item, clearance):
    """What keeps the robot's middle so far from the box of `item` [m]."""
    pose = Pose((*item.position[:2], 0.0))
    return Zone(f"the {item.name}", Shape.BOX, (0.2, 0.2, 5.0), pose, clearance, Subject.GRIPPER)


def stand_off(world, name, distance):
    """Puts the robot into the room of `name`, so far away [m]."""
    item = world.scene().find(name)
    base = Base(world.observation(), BaseSettings())
    room = world.building.room_at(*item.position[:2])
    covered = base.floor.obstacles(room)
    places = [
        place for place in base.floor.places(room, item.position[:2]) if not any(o.covers(place) for o in covered)
    ]
    world.data.qpos[:2] = min(places, key=lambda place: abs(distance_to_box(place, item) - distance))
    world.settle()


def test_a_rule_keeps_it_farther_off_than_it_was_told(world, walker):
    zone = around(world.scene().find(walker), 1.2)
    stand_off(world, walker, 2.0)
    result, gaps = following(world, walker, 0.8, (zone,), seconds=8)
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert min(gaps) > 1.2


def test_a_rule_about_whom_it_follows_leaves_it_the_distance_beyond(world, walker):
    stand_off(world, walker, 2.0)
    zone = around(world.scene().find(walker), 0.6)
    result, _ = following(world, walker, 1.5, (zone,), seconds=6)
    assert result.code is SUCCEEDED


def test_a_speed_limit_holds_while_it_follows(world, walker):
    seen = replace(world.observation(), speed_limit=0.2)
    script = LIBRARY.find("follow").start({"object": walker, "seconds": 5, "distance": 3.0}, seen)
    poses = script.step(seen).poses
    steps = [math.dist(a.position, b.position) for a, b in pairwise(poses)]
    assert 0.0 < max(steps) <= 0.2 * 0.1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"seconds": 10, "distance": 0.2}, "from 0.6 to 3 m for distance, not 0.2"),
        ({"seconds": 900}, "from 1 to 600 s for seconds, not 900"),
        ({}, "needs the number 'seconds'"),
    ],
)
def test_what_cannot_be_followed_so_is_told_before_anything_moves(world, walker, arguments, reason):
    before = world.time
    assert reason in run(world, "follow", object=walker, **arguments).message
    assert world.time == before


def test_who_is_in_another_room_is_gone_to_first(world):
    name = next(item.name for item in world.scene().objects if world.building.room_at(*item.position[:2]) != "hall")
    assert f"{name} is in another room; go there first" in run(world, "follow", object=name, seconds=5).message


def test_what_the_robot_carries_is_not_followed(world):
    name = next(item.name for item in world.scene().objects if item.kind not in ("person", "plant", "dock"))
    for skill, arguments in (("go_to", {"destination": name}), ("pick_up", {"object": name})):
        assert run(world, skill, **arguments).code is SUCCEEDED
    told = run(world, "follow", object=name, seconds=5).message
    assert f"the robot carries the {name}; put it down first" in told


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_it_backs_into_its_dock_within_two_centimetres_and_three_degrees(seed):
    world = open_world("rooms", seed)
    assert run(world, "dock", station="dock").code is SUCCEEDED
    scene = world.scene()
    place = docking_pose(scene.find("dock"))
    assert math.dist(scene.robot.position, place.position) <= 0.02
    assert abs(math.remainder(yaw_of(scene.robot) - yaw_of(place), math.tau)) <= math.radians(3.0)
    assert docked(scene, "dock")
    assert not world.limit_watch.exceeded, "it has hit something"


def test_the_last_half_metre_is_driven_slowly_and_backwards(world):
    seen = []

    def note(observation):
        place = docking_pose(observation.scene.find("dock"))
        if math.dist(observation.scene.robot.position, place.position) < 0.5:
            seen.append((observation.scene.speed, yaw_of(observation.scene.robot) - yaw_of(place)))
        return False

    run(world, "dock", note, station="dock")
    assert max(speed for speed, _ in seen) < 0.2
    assert max(abs(math.remainder(turn, math.tau)) for _, turn in seen) < math.radians(3.0)


def test_who_is_docked_stays_and_can_drive_away_again(world):
    run(world, "dock", station="dock")
    before, at = world.time, world.joint_state().qpos
    assert run(world, "dock", station="dock").code is SUCCEEDED
    assert world.time - before < 1.0
    assert world.joint_state().qpos == pytest.approx(at, abs=1e-3)
    assert run(world, "go_to", destination="hall").code is SUCCEEDED
    assert world.scene().robot_room == "hall"


def test_a_robot_that_is_a_little_askew_docks_anew(world):
    run(world, "dock", station="dock")
    world.data.qpos[:] += (0.03, -0.03, 0.2)
    world.settle()
    assert not docked(world.scene(), "dock")
    assert run(world, "dock", station="dock").code is SUCCEEDED
    assert docked(world.scene(), "dock")


def test_a_plant_is_no_dock(world):
    assert "plant is not a dock" in run(world, "dock", station="plant").message


def test_where_there_is_no_dock_nobody_is_offered_to_dock():
    world = open_world("rooms", 3, rooms=9, objects=())
    assert "dock" not in LIBRARY.for_scene(world.scene()).skills


class Powerless(Base):
    """Its movements end, and it is where it was."""

    def drive(self, phase, goal):
        yield from ()

    def creep(self, phase, pose, speed, arrived, facing):
        yield from ()

    def turn(self, phase, yaw):
        yield from ()

    def rest(self, phase, seconds):
        yield from ()


def test_a_base_that_never_stands_as_it_should_says_so(world):
    dock = LIBRARY.find("dock").manifest.functions().move
    with pytest.raises(SkillError, match="the robot does not stand in the dock as it should"):
        list(dock(Powerless(world.observation(), BaseSettings()), {"station": "dock"}))
