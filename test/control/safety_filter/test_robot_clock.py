"""The robot's time from the stamps of its states, however late these come."""

from __future__ import annotations

import pytest

from llm_planner.control.safety_filter.command_timing import RobotClock

AHEAD = 1000.0  # [s] of the robot's clock, of the wall's


def heard(until: float, pace: float = 1.0, delay: float = 0.001) -> RobotClock:
    """States of 100 Hz in the robot's time that came until `until` [s, wall]."""
    clock = RobotClock()
    for k in range(round(100 * pace * until)):
        clock.heard(AHEAD + 0.01 * k, 0.01 * k / pace + delay)
    return clock


def test_before_any_state_no_time_is_known():
    clock = RobotClock()
    assert not clock.is_known(0.0)
    assert clock.now(5.0) == float("-inf")


def test_between_two_states_time_goes_on():
    clock = heard(1.0)
    assert clock.now(0.996) == pytest.approx(AHEAD + 0.995, abs=1e-6)


def test_states_that_come_late_do_not_turn_time_back():
    clock = heard(1.0)
    clock.heard(AHEAD + 1.0, 1.3)
    assert clock.now(1.3) == pytest.approx(AHEAD + 1.299, abs=1e-6)


def test_while_no_states_come_time_is_not_known():
    clock = heard(1.0)
    assert clock.is_known(1.03)
    assert not clock.is_known(1.1)
    clock.heard(AHEAD + 1.3, 1.301)
    assert clock.is_known(1.31)


def test_time_that_the_robot_lost_is_forgotten_with_the_states_of_before():
    clock = heard(1.0)
    for k in range(30):
        clock.heard(AHEAD + 1.0 + 0.01 * k, 1.3 + 0.01 * k)
    assert clock.now(1.595) == pytest.approx(AHEAD + 1.295, abs=1e-3)


@pytest.mark.parametrize("pace", [0.05, 0.5, 4.0])
def test_a_simulation_of_another_pace_is_never_guessed_more_than_a_state_ahead(pace):
    clock = heard(2.0, pace)
    newest = AHEAD + 0.01 * (round(200 * pace) - 1)
    assert newest - 1e-6 <= clock.now(2.0) <= newest + 0.021


def test_after_a_restart_time_begins_anew():
    clock = heard(1.0)
    clock.forget()
    clock.heard(5.0, 1.2)
    assert clock.now(1.21) == pytest.approx(5.01)
