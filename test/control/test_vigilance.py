"""What cannot be is noticed: in states, in their stream, and in references."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.input_validation import (
    NO_DOUBT,
    Expected,
    InputValidator,
    ValidationResult,
    reference_objection,
)
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.scene.scene import Pose

TWO_JOINTS = Expected(np.array([2.0, 1.0]))


def state(time: float, qpos: tuple[float, ...] = (0.0, 0.0), qvel: tuple[float, ...] = (0.0, 0.0)) -> JointState:
    return JointState(time, np.array(qpos), np.array(qvel))


@pytest.fixture
def vigilance() -> InputValidator:
    watch = InputValidator(TWO_JOINTS)
    assert watch.look(state(10.0), wall=100.0) is NO_DOUBT
    return watch


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (state(0.0, (0.0, math.nan)), "the positions in the robot's state are not all finite: [ 0. nan]"),
        (state(0.0, (0.0, 0.0), (math.inf, 0.0)), "the velocities in the robot's state are not all finite"),
        (state(0.0, (0.0,)), "the robot's state has 1 positions instead of 2"),
        (state(math.nan), "the time of the robot's state is nan"),
    ],
)
def test_what_is_no_state_is_told(vigilance, wrong, reason):
    doubt = vigilance.look(wrong, wall=100.01)
    assert doubt.reason.startswith(reason)
    assert not doubt.usable
    assert vigilance.look(state(10.02), wall=100.02) == NO_DOUBT


@pytest.mark.parametrize(
    ("after", "wall", "reason"),
    [
        (state(10.01, (0.02, 0.01), (1.9, 0.9)), 100.01, ""),
        (state(10.01, (0.0, 0.2)), 100.01, "joint 2 of the robot jumped by 0.20 in 10 ms"),
        (state(10.01, qvel=(0.0, 3.1)), 100.01, "joint 2 of the robot claims the speed 3.10; its limit is 1.00"),
        (state(9.0), 100.01, "the robot's clock went back by 1 s"),
        (state(11.0), 100.01, "the robot's clock leapt ahead by 1 s"),
        (state(11.0), 100.2, ""),  # a simulator ahead of the wall, and a process that stood still
        (state(10.01), 101.5, ""),
    ],
)
def test_what_does_not_follow_from_the_state_before_is_told(vigilance, after, wall, reason):
    assert vigilance.look(after, wall) == ValidationResult(reason, usable="joint" not in reason)


def test_it_is_told_once(vigilance):
    assert vigilance.look(state(10.01, (0.0, 0.5)), 100.01).reason
    assert vigilance.look(state(10.02, (0.0, 0.5)), 100.02) == NO_DOUBT


def test_a_joint_that_turns_may_pass_its_seam():
    watch = InputValidator(replace(TWO_JOINTS, turning=(1,)))
    watch.look(state(0.0, (0.0, 3.14)), 0.0)
    assert watch.look(state(0.01, (0.0, -3.14)), 0.01) == NO_DOUBT
    assert "joint 1 of the robot jumped" in watch.look(state(0.02, (6.28, -3.14)), 0.02).reason


def test_a_stream_that_stops_or_repeats_itself_is_lost(vigilance):
    assert vigilance.silent(100.9) == ""
    assert vigilance.silent(101.1) == "the robot's states have stopped: nothing newer for 1 s"
    vigilance.look(state(10.0), 101.1)
    assert vigilance.silent(101.1)
    vigilance.look(state(10.01), 101.2)
    assert vigilance.silent(101.3) == ""


def test_before_the_first_state_nothing_is_lost():
    assert InputValidator(TWO_JOINTS).silent(1000.0) == ""


STILL = Pose((0.4, 0.0, 0.3))
GOOD = MotionReference(20.0, 0.05, (STILL, STILL), 0.04, valid_for=0.5)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"start_time": 20.7}, "a reference begins 0.60 s from now; 0.5 s is the most"),
        ({"start_time": math.nan}, "a reference begins nan s from now"),
        ({"start_time": 18.4, "valid_for": 2.0}, "a reference is from before the robot was started"),
        ({"valid_for": 1e9}, "a reference claims to hold for 1e+09 s; 2 s is the most"),
        ({"valid_for": 0.0}, "a reference claims to hold for 0 s"),
        ({"start_time": 19.5}, "a reference came 0.10 s after its end"),
        ({"dt": 0.0}, "a motion reference's dt must lie between 0.001 and 10 s, not 0.0"),
        ({"poses": (STILL,) * 1001}, "a motion reference needs 1 to 1000 poses, not 1001"),
        ({"speed_scale": math.nan}, "the motion reference's speed_scale is not a finite number: nan"),
        ({"poses": (Pose((math.nan, 0.0, 0.0)),)}, "a pose of the motion reference holds a number that is not finite"),
    ],
)
def test_references_of_another_time_or_of_no_sense_are_told(changes, reason):
    objection = reference_objection(replace(GOOD, **changes), now=20.1, since=19.0)
    assert re.match(re.escape(reason) + ("" if reason else "$"), objection)
