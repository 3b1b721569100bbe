"""Of a hundred trajectories a second, those become goals that the robot needs to know."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.robots.motion import JointTrajectory, sample
from llm_planner.ros.nodes.trajectory_action_node import GoalPacing

DT, ACCELERATION = 0.02, 0.5  # [s], [rad/s^2]
PERIOD, URGENT = 0.1, 0.01


def braking(start: float, position: float, speed: float) -> JointTrajectory:
    """To rest from a speed, as each command ends."""
    steps = max(1, round(speed / ACCELERATION / DT))
    qacc = np.full((steps, 1), -speed / (steps * DT))
    qvel = speed + DT * np.concatenate([np.zeros((1, 1)), np.cumsum(qacc, axis=0)])
    moved = DT * (qvel[:-1] + 0.5 * DT * qacc)
    qpos = position + np.concatenate([np.zeros((1, 1)), np.cumsum(moved, axis=0)])
    return JointTrajectory(start, DT, qpos, qvel, qacc, float("nan"))


@pytest.fixture
def pacing() -> GoalPacing:
    return GoalPacing(PERIOD, URGENT)


def test_a_robot_that_stands_needs_no_goal(pacing):
    assert not pacing.wants(braking(0.0, 0.3, 0.0))


def test_a_motion_that_goes_on_is_renewed_once_a_period(pacing):
    """At a constant speed of 0.1 rad/s, every command brakes from where the robot is by then."""
    sent = [0.01 * k for k in range(101) if pacing.wants(braking(0.01 * k, 0.001 * k, 0.1))]
    assert sent[0] == 0.0
    assert np.diff(sent) == pytest.approx(PERIOD, abs=0.011)
    assert len(sent) == pytest.approx(11, abs=1)


def test_what_continues_the_goal_under_way_is_not_sent(pacing):
    goal = braking(0.0, 0.0, 0.5)
    assert pacing.wants(goal)
    for time in (0.2, 0.4, 0.8):
        (position,), (speed,) = (part[0] for part in sample(goal, np.array([time])))
        assert not pacing.wants(braking(time, position, speed))


def test_a_stop_is_sent_at_once(pacing):
    assert pacing.wants(braking(0.0, 0.0, 1.0))
    assert not pacing.wants(braking(0.01, 0.01, 0.998)), "as it was sent, but for less than a hundredth"
    assert pacing.wants(braking(0.02, 0.02, 0.0))


def test_after_a_refusal_the_next_motion_is_sent(pacing):
    goal = braking(0.0, 0.0, 0.5)
    assert pacing.wants(goal)
    assert not pacing.wants(goal)
    pacing.forget()
    assert pacing.wants(goal)
