"""Frames of a recording at a steady rate of the robot's time."""

from __future__ import annotations

import pytest

pytest.importorskip("mcap_ros2")

from llm_planner.ros.recordings import RecordedFrame, at_rate
from llm_planner.scene.scene import Scene


def frames(*stamps: float) -> list[RecordedFrame]:
    return [RecordedFrame(100.0 + 3 * stamp, stamp, (stamp,), 0.0, Scene(stamp, ())) for stamp in stamps]


def test_each_multiple_of_the_period_gets_the_newest_state_before_it():
    taken = at_rate(frames(5.0, 5.04, 5.11, 5.19, 5.2, 5.33), 10)
    assert [frame.stamp for frame in taken] == [5.0, 5.04, 5.2, 5.2]


def test_a_slow_simulation_gives_no_more_frames_than_a_fast_one():
    assert len(at_rate(frames(*(0.01 * n for n in range(101))), 10)) == 11


def test_nothing_gives_nothing():
    assert at_rate([], 10) == []
