import numpy as np
import pytest

from llm_planner.robots.motion import JointTrajectory, sample


@pytest.fixture
def trajectory() -> JointTrajectory:
    """One joint: 1 s speeding up at 2 rad/s^2, 1 s braking, from time 10."""
    return JointTrajectory(
        10.0, 1.0, np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [2.0], [0.0]]), np.array([[2.0], [-2.0]]), 0.04
    )


def test_between_knots_the_acceleration_is_constant(trajectory: JointTrajectory):
    qpos, qvel = sample(trajectory, np.array([10.5, 11.0, 11.5]))
    assert qpos.ravel() == pytest.approx([0.25, 1.0, 1.75])
    assert qvel.ravel() == pytest.approx([1.0, 2.0, 1.0])


def test_before_its_start_and_after_its_end_it_stands_still(trajectory: JointTrajectory):
    qpos, qvel = sample(trajectory, np.array([9.0, 10.0, 12.0, 99.0]))
    assert qpos.ravel() == pytest.approx([0.0, 0.0, 2.0, 2.0])
    assert qvel.ravel() == pytest.approx([0.0, 0.0, 0.0, 0.0])
