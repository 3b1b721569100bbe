"""How long another process has said nothing: gaps in which we were held up ourselves do not count."""

from __future__ import annotations

import math

from llm_planner.ros.heartbeat_monitor import LONGEST_LOOK, STANDSTILL, DataSilence, HeartbeatMonitor


def test_who_was_never_heard_is_silent_for_ever():
    silence = HeartbeatMonitor()
    silence.look(10.0)
    assert silence.seconds == math.inf


def test_silence_is_counted_from_the_last_word_by_looking():
    silence = HeartbeatMonitor()
    silence.look(10.0)
    silence.heard()
    for now in (10.25, 10.5, 10.75):
        silence.look(now)
    assert silence.seconds == 0.75
    silence.heard()
    assert silence.seconds == 0.0


def test_a_gap_in_our_own_looking_counts_little():
    silence = HeartbeatMonitor()
    silence.heard()
    silence.look(10.0)
    silence.look(60.0)
    assert silence.seconds == LONGEST_LOOK


def test_a_clock_that_goes_back_counts_nothing():
    silence = HeartbeatMonitor()
    silence.heard()
    silence.look(10.0)
    silence.look(9.0)
    assert silence.seconds == 0.0


class Missing:
    """Data of a robot that were heard at 0 s and are missing since, looked at four times a second of wall time."""

    def __init__(self, pace: float) -> None:
        """Let the robot's clock go at `pace` seconds a second."""
        self.wall, self._pace = 0.0, pace
        self.silence = DataSilence(lambda: pace * self.wall, wall_clock=lambda: self.wall)
        self.silence.look()
        self.silence.heard()

    def after(self, seconds: float) -> float:
        while self.wall < seconds:
            self.wall += 0.25
            self.silence.look()
        return self.silence.seconds


def test_data_of_a_real_robot_are_missing_by_the_clock():
    assert Missing(pace=1.0).after(2.0) == 2.0


def test_data_of_a_simulation_that_is_too_slow_are_missing_by_its_own_clock():
    assert Missing(pace=0.1).after(2.0) == 0.2


def test_data_of_a_simulation_that_is_faster_are_not_missed_sooner():
    assert Missing(pace=10.0).after(0.5) == 0.5


def test_a_robot_whose_clock_stands_is_silent_after_some_seconds():
    missing = Missing(pace=0.0)
    assert missing.after(STANDSTILL - 0.25) == 0.0
    assert missing.after(STANDSTILL) == STANDSTILL


def test_data_that_never_came_are_silent_for_ever():
    silence = DataSilence(lambda: 5.0)
    silence.look()
    assert silence.seconds == math.inf
