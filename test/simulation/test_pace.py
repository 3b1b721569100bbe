"""Simulated time goes as fast as asked where commands come in time, and waits for those that come late."""

from __future__ import annotations

import pytest

from llm_planner.simulation.arm_drive import LEAST, Pace


def after(*late: float) -> float:
    pace = Pace()
    for count, one in enumerate(late):
        pace.heard(0.01 * count, 0.01 * count - one)
    return pace.share


def test_commands_in_time_cost_nothing():
    assert after(*[-0.02] * 10, 0.005) == 1.0


def test_late_commands_slow_it_down_but_never_stop_it():
    assert after(0.05) < 1.0
    assert after(*[0.05] * 3) < after(0.05)
    assert after(*[0.05] * 1000) == LEAST


def test_it_is_as_fast_as_asked_again_some_seconds_after_the_last_late_one():
    assert after(*[0.05] * 1000, *[-0.02] * 200) == pytest.approx(1.0)


def test_a_command_that_is_sent_again_is_not_late():
    pace = Pace()
    for count in range(50):
        pace.heard(now=1.0 + 0.01 * count, start=1.0)
    assert pace.share == 1.0


def test_a_command_of_another_time_says_nothing():
    assert after(3.0) == 1.0
