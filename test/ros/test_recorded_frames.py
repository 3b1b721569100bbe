"""Frames of a recording at a steady rate of the robot's time."""

from __future__ import annotations

import pytest

pytest.importorskip("mcap_ros2")

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.recordings import RecordedFrame, RecordedRobot, at_rate
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.scene import Building, DrivenBase, Scene


def frames(*stamps: float) -> list[RecordedFrame]:
    return [RecordedFrame(100.0 + 3 * stamp, stamp, (stamp,), 0.0, Scene(stamp, ())) for stamp in stamps]


def test_each_multiple_of_the_period_gets_the_newest_state_before_it():
    taken = at_rate(frames(5.0, 5.04, 5.11, 5.19, 5.2, 5.33), 10)
    assert [frame.stamp for frame in taken] == [5.0, 5.04, 5.2, 5.2]


def test_a_slow_simulation_gives_no_more_frames_than_a_fast_one():
    assert len(at_rate(frames(*(0.01 * n for n in range(101))), 10)) == 11


def test_the_state_of_an_arm_on_a_base_has_the_pose_of_the_base_in_the_map():
    mobile = RecordedRobot(arm_model("mobile_ur5e"), "")
    rooms = Building((), ())
    base = DrivenBase(upright_pose(1.0, 2.0, 0.5), 0.2, (0.2, 0.8), rooms)
    frame = RecordedFrame(0.0, 0.0, tuple(0.1 * n for n in range(6)), 0.08, Scene(0.0, (), base=base))
    assert dict(zip(mobile.names, frame.state, strict=True)) == pytest.approx(
        {**{name: 0.1 * n for n, name in enumerate(mobile.arm.joints)}, "gripper": 0.08, "x": 1.0, "y": 2.0, "yaw": 0.5}
    )


def test_the_state_of_a_base_is_its_pose_and_whether_it_holds_something():
    scene = Scene(0.0, (), "red parcel", upright_pose(1.0, 2.0, 0.5), building=Building((), ()))
    frame = RecordedFrame(0.0, 0.0, (), 0.0, scene)
    assert dict(zip(RecordedRobot(None, "").names, frame.state, strict=True)) == pytest.approx(
        {"x": 1.0, "y": 2.0, "yaw": 0.5, "holds": 1.0}
    )


def test_nothing_gives_nothing():
    assert at_rate([], 10) == []
