"""Reservation of a strip: one arm at a time, whatever becomes of the messages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from llm_planner.control.zone_reservation import ZoneReservation
from llm_planner.errors import InputError
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
