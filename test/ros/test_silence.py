"""How long another process has said nothing: gaps in which we were held up ourselves do not count."""

from __future__ import annotations

import math

from llm_planner.ros.heartbeat_monitor import LONGEST_LOOK, HeartbeatMonitor


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
