"""A base that shares its building: it waits for the rooms on its way, drives through its own, and gives them back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import dist

import pytest

from llm_planner.robots.motion import MotionReference
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.world import RoomsWorld, standing_thing
from llm_planner.simulation.worlds import file_of, read_world
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.reserved_rooms import ReservedBase

BUILDING = read_world(file_of("two_bases"))  # left stands in the library
WAY = ("library", "hall", "kitchen")


@dataclass
class Rooms:
    """Reservations of the base called left; what it asks for is `granted` at once, or by hand."""

    held: frozenset[str] = frozenset({"library"})
    taken: frozenset[str] = frozenset()
    granted: bool = False
    wanted: list[tuple[str, ...]] = field(default_factory=list)  # all wishes
    zones = ()

    @property
    def strips(self) -> dict[str, str]:
        return dict.fromkeys(BUILDING.building.names, "right")

    def want(self, rooms) -> None:
        self.wanted.append(tuple(rooms))
        if self.granted:
            self.held = frozenset(rooms)


@pytest.fixture
def world() -> RoomsWorld:
    return RoomsWorld(0, layout=BUILDING)


def started(world: RoomsWorld, rooms: Rooms, patience: float = 5.0):
    library = load_skills(make_base=lambda seen: ReservedBase(seen, rooms, patience), learned=False)
    return library.find("go_to").start({"destination": "kitchen"}, world.observation())


def test_a_base_asks_for_all_rooms_on_its_way_and_stands_until_it_has_them(world):
    rooms = Rooms()
    run = started(world, rooms)
    still = run.step(world.observation())
    assert isinstance(still, MotionReference)
    assert len(still.poses) == 1
    assert (rooms.wanted[-1], run.phase) == (WAY, "wait for the hall and the kitchen")
    rooms.held = frozenset(WAY)
    moving = run.step(world.observation())
    assert (len(moving.poses) > 1, run.phase) == (True, "drive")


def test_it_asks_for_nothing_while_its_neighbour_has_one_of_the_rooms(world):
    rooms = Rooms(taken=frozenset({"kitchen"}))
    run = started(world, rooms)
    run.step(world.observation())
    assert (rooms.wanted[-1], run.phase) == ((), "wait for the kitchen, which right has")
    rooms.taken = frozenset()
    run.step(world.observation())
    assert rooms.wanted[-1] == WAY


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        (
            {"hall"},
            "the hall, which right has, and this robot waited 5 s: send right to another room first, or this robot",
        ),
        ((), "the hall and the kitchen, which right has not granted within 5 s: do the nodes of right run?"),
    ],
)
def test_a_room_that_is_not_got_in_time_is_a_failure_that_names_the_neighbour(world, taken, why):
    run = started(world, Rooms(taken=frozenset(taken)))
    before = world.observation()
    for time in (0.0, 4.9):
        assert isinstance(run.step(replace(before, time=time)), MotionReference)
    result = run.step(replace(before, time=5.2))
    assert isinstance(result, SkillResult)
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert f"the way leads through {why}" in result.message


def test_a_base_drives_beside_what_was_put_down_at_its_goal_while_it_waited(world):
    rooms = Rooms(taken=frozenset({"kitchen"}))
    run, goal = started(world, rooms), BUILDING.building.find("kitchen").area.center
    run.step(world.observation())
    parcel = standing_thing(ObjectSpec("parcel", "parcel", ""), *goal, 0.0)
    world.lay_out(replace(world.scene(), objects=(parcel,)))
    rooms.taken, rooms.granted = frozenset(), True
    episode, outcome = Episode(world), None
    while outcome is None:
        outcome = episode.advance(run, world.observation())
    assert outcome.code is SkillErrorCode.SUCCEEDED, outcome.message
    assert 0.5 < dist(world.scene().robot.position[:2], goal) < 1.0


def test_it_gives_back_each_room_that_it_has_left(world):
    rooms = Rooms(granted=True)
    library = load_skills(make_base=lambda seen: ReservedBase(seen, rooms), learned=False)
    result = Episode(world).run(library.find("go_to"), {"destination": "kitchen"})
    assert result.code is SkillErrorCode.SUCCEEDED, result.message
    assert list(dict.fromkeys(rooms.wanted)) == [WAY, WAY[1:], WAY[2:]]
    assert world.scene().robot_room == "kitchen"


def test_a_base_that_follows_somebody_stops_before_a_room_that_it_does_not_have(world):
    rooms = Rooms()
    base = ReservedBase(world.observation(), rooms)
    course = lambda: (base.way(base.floor, base.floor.middle("hall")), (-4.4, 5.0))  # noqa: E731
    reference = next(base.pursue("follow", 10.0, course))
    assert all(BUILDING.building.room_at(*pose.position[:2]) == "library" for pose in reference.poses)
    assert base.phase == "wait for the hall"
    assert rooms.wanted[-1] == ("library", "hall")
