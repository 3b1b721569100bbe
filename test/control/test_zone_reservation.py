"""Reservation of a strip or a room: one robot at a time, whatever becomes of the messages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from llm_planner.control.zone_reservation import ZoneReservation
from llm_planner.errors import InputError
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Room
from llm_planner.scene.shared_building import SharedBuilding, Start
from llm_planner.scene.shared_table import SharedTable, Station

TABLE = SharedTable((Station("left", "panda", 0.0, 0.5), Station("right", "panda", 0.0, -0.5)))
STRIP = "left and right"


def arms(clock=None) -> tuple[ZoneReservation, ZoneReservation]:
    ticks = itertools.count(1)
    clock = clock or (lambda: next(ticks))
    left, right = (ZoneReservation(name, TABLE.boundaries(name), clock) for name in TABLE.names)
    return left, right


def exchange(*arms: ZoneReservation, inside: str = "") -> None:
    """Each arm hears the others; the arm `inside` is in the strip."""
    for arm in arms:
        arm.update(lambda zone, arm=arm: arm.arm != inside)
    states = [arm.state() for arm in arms]
    for arm in arms:
        for state in states:
            arm.heard(state)
        arm.update(lambda zone, arm=arm: arm.arm != inside)


def test_an_arm_that_asks_alone_gets_the_strip_and_gives_it_back():
    left, right = arms()
    left.want([STRIP])
    for _ in range(3):
        exchange(left, right)
    assert left.held == {STRIP}
    assert left.zones == (TABLE.boundaries("left")[0].far,)
    assert right.zones == (TABLE.boundaries("right")[0].near,)
    left.want([])
    exchange(left, right, inside="left")
    assert left.held == {STRIP}, "it is still inside"
    exchange(left, right)
    assert left.held == frozenset()


def test_of_two_that_ask_at_once_one_waits_until_the_other_has_left():
    left, right = arms()
    left.want([STRIP])
    right.want([STRIP])
    for _ in range(4):
        exchange(left, right)
    assert (left.held, right.held) == ({STRIP}, frozenset())
    left.want([])
    for _ in range(3):
        exchange(left, right)
    assert (left.held, right.held) == (frozenset(), {STRIP})


def test_without_an_answer_nobody_gets_the_strip():
    left, _ = arms()
    left.want([STRIP])
    for _ in range(10):
        left.update(lambda zone: True)
    assert left.held == frozenset()


def test_an_arm_that_starts_anew_inside_the_strip_grants_nothing():
    left, right = arms()
    right.want([STRIP])
    for _ in range(5):
        exchange(left, right, inside="left")
    assert right.held == frozenset()


@pytest.mark.parametrize("seed", range(20))
def test_never_two_have_it_though_messages_are_lost_late_and_repeated_and_arms_restart(seed):
    rng, ticks = np.random.default_rng(seed), itertools.count(1)
    clock = lambda: next(ticks)  # noqa: E731
    pair = list(arms(clock))
    under_way, got = [], [0, 0]
    for _ in range(3000):
        who = int(rng.integers(2))
        arm, event = pair[who], rng.random()
        if event < 0.05:
            arm.want([STRIP] if rng.random() < 0.5 else [])
        elif event < 0.053 and not arm.held:  # a new process, which knows nothing
            pair[who] = ZoneReservation(arm.arm, TABLE.boundaries(arm.arm), clock)
        elif event < 0.5:
            arm.update(lambda zone: bool(rng.random() < 0.7))
            under_way.append(arm.state())
        elif under_way:
            index = int(rng.integers(len(under_way)))
            state = under_way[index] if rng.random() < 0.3 else under_way.pop(index)
            pair[0 if state.arm == "right" else 1].heard(state)
            under_way = under_way[-20:]
        assert not (pair[0].held and pair[1].held)
        got = [count + bool(one.held) for count, one in zip(got, pair, strict=True)]
    assert min(got) > 0, "each had it at times"


def test_an_unknown_strip_is_refused():
    with pytest.raises(InputError, match="left has no strip 'x'; its strips are: left and right"):
        arms()[0].want(["x"])


HALL, LAB = "hall", "lab"
PLAN = Building(
    (
        Room("library", Rectangle(-4.5, -1.5, -1.5, 1.5)),
        Room(HALL, Rectangle(-1.5, 1.5, -1.5, 1.5)),
        Room(LAB, Rectangle(1.5, 4.5, -1.5, 1.5)),
    ),
    (),
)
BUILDING = SharedBuilding((Start("left", -3.0, 0.0), Start("right", 3.0, 0.0)), PLAN)


def bases(clock=None) -> tuple[ZoneReservation, ZoneReservation]:
    ticks = itertools.count(1)
    clock = clock or (lambda: next(ticks))
    left, right = (ZoneReservation(name, BUILDING.boundaries(name), clock) for name in BUILDING.names)
    return left, right


def tell(*robots: ZoneReservation, times: int = 5, **standing: tuple[str, ...]) -> None:
    """Let all hear each other; `standing` are the rooms in which each base is."""
    for _ in range(times):
        for robot in robots:
            robot.update(lambda zone, robot=robot: zone.name[4:] not in standing[robot.arm])
        states = [robot.state() for robot in robots]
        for robot in robots:
            for state in states:
                robot.heard(state)


def test_an_idle_base_has_the_rooms_where_it_stands_and_keeps_out_of_all_others():
    left, right = bases()
    tell(left, right, left=("library",), right=(HALL, LAB))
    assert (left.held, right.held) == ({"library"}, {HALL, LAB})
    assert [zone.name for zone in left.zones] == ["the hall", "the lab"]
    assert right.taken == {"library"}


def test_a_base_gets_no_room_in_which_the_other_one_is_and_gets_it_once_that_has_left():
    left, right = bases()
    tell(left, right, left=("library",), right=(HALL,))
    left.want([HALL])
    tell(left, right, left=("library",), right=(HALL, LAB))
    assert (left.held, right.held) == ({"library"}, {HALL, LAB})
    tell(left, right, left=("library",), right=(LAB,))
    assert (left.held, right.held) == ({"library", HALL}, {LAB})


def test_a_base_gets_the_room_where_it_stands_though_the_other_one_has_asked_for_it_before():
    left, right = bases()
    left.want([HALL, LAB])
    left.update(lambda zone: zone.name != "the library")
    tell(left, right, left=("library",), right=(LAB,))
    assert (left.held, right.held) == ({"library", HALL}, {LAB})


def test_of_two_bases_that_ask_for_the_same_rooms_at_once_one_gets_all_of_them():
    left, right = bases()
    tell(left, right, left=(), right=())
    left.want([HALL, LAB])
    right.want([LAB, HALL])
    tell(left, right, left=(), right=())
    assert sorted(map(sorted, (left.held, right.held))) == [[], [HALL, LAB]]


@pytest.mark.parametrize("seed", range(10))
def test_no_room_ever_has_two_bases_whatever_becomes_of_the_messages(seed):
    rng, ticks = np.random.default_rng(seed), itertools.count(1)
    pair, rooms = list(bases(lambda: next(ticks))), list(PLAN.names)
    inside: list[set[str]] = [{"library"}, {LAB}]
    under_way, got = [], [0, 0]
    for _ in range(4000):
        who = int(rng.integers(2))
        base, event = pair[who], rng.random()
        if event < 0.05:
            base.want(rng.permutation(rooms)[: int(rng.integers(4))].tolist())
        elif event < 0.10:  # it moves, where it may
            inside[who] = {room for room in base.held if rng.random() < 0.5} or inside[who]
        elif event < 0.102:  # a new process, which knows nothing; the base stands still
            pair[who] = ZoneReservation(base.arm, BUILDING.boundaries(base.arm), lambda: next(ticks))
        elif event < 0.5:
            base.update(lambda zone, who=who: zone.name[4:] not in inside[who])
            under_way.append(base.state())
        elif under_way:
            index = int(rng.integers(len(under_way)))
            state = under_way[index] if rng.random() < 0.3 else under_way.pop(index)
            pair[0 if state.arm == "right" else 1].heard(state)
            under_way = under_way[-20:]
        assert not pair[0].held & pair[1].held
        assert not inside[0] & inside[1]
        got = [count + (len(one.held) > 1) for count, one in zip(got, pair, strict=True)]
    assert min(got) > 0, "each had more than one room at times"
