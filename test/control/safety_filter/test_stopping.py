"""A joint that keeps its bounds can always stop inside its limits."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.safety_filter.proof import Move, acceleration_bounds, travel, way_to_rest
from llm_planner.robots.limits import JointLimits

DT = 0.012
BRAKING = np.array([4.0, 6.0])
LIMITS = JointLimits(np.array([-1.0, -0.5]), np.array([1.0, 0.7]), np.array([2.0, 1.5]), np.array([5.0, 8.0]))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_chosen_within_the_bounds_the_limits_are_kept_for_ever(seed):
    rng = np.random.default_rng(seed)
    qpos, qvel = np.zeros(2), np.zeros(2)
    for _ in range(600):
        lower, upper = acceleration_bounds(qpos, qvel, LIMITS, BRAKING, DT)
        assert (np.abs(lower) <= LIMITS.acceleration).all()
        assert (np.abs(upper) <= LIMITS.acceleration).all()
        qacc = np.where(rng.random(2) < 0.8, upper if seed % 2 else lower, rng.uniform(lower, upper))
        qpos, qvel = qpos + DT * qvel + 0.5 * DT * DT * qacc, qvel + DT * qacc
        assert (LIMITS.lower - 1e-9 <= qpos).all()
        assert (qpos <= LIMITS.upper + 1e-9).all()
        assert (np.abs(qvel) <= LIMITS.velocity + 1e-9).all()
    assert np.abs(qpos).max() > 0.45, "it went nowhere near a limit"


def test_a_joint_beyond_its_limit_is_not_pushed_back_but_never_goes_on():
    lower, upper = acceleration_bounds(np.array([1.1, 0.0]), np.zeros(2), LIMITS, BRAKING, DT)
    assert upper[0] == pytest.approx(0.0)
    assert lower[0] == -5.0


def test_a_joint_that_is_too_fast_slows_down_as_much_as_it_may():
    lower, upper = acceleration_bounds(np.zeros(2), np.array([3.0, 0.0]), LIMITS, BRAKING, DT)
    assert lower[0] == upper[0] == -5.0


def test_braking_in_whole_stages_goes_no_farther_than_said():
    for velocity in np.random.default_rng(1).uniform(-2, 2, (50, 2)):
        start = StartState(np.zeros(2), velocity, np.zeros(2))
        limits = JointLimits(LIMITS.lower, LIMITS.upper, LIMITS.velocity, BRAKING)
        rest = formulation.brake(start, limits, 0.0, DT, 0.0).qpos[-1]
        assert (np.abs(rest) <= np.abs(travel(velocity, BRAKING, DT)) + 1e-12).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_way_to_rest_is_a_hold_and_then_the_fallbacks_braking(seed):
    rng = np.random.default_rng(seed)
    start, qacc = Move(rng.uniform(-1, 1, 2), rng.uniform(-2, 2, 2), DT), rng.uniform(-5, 5, 2)
    (*qpos, stopped), off = way_to_rest(start, qacc, BRAKING, 12)
    velocity = start.qvel + DT * qacc
    after = start.qpos + DT * (start.qvel + velocity) / 2
    limits = JointLimits(LIMITS.lower, LIMITS.upper, LIMITS.velocity, BRAKING)
    brake = formulation.brake(StartState(after, velocity, qacc), limits, 0.0, DT, 0.0)
    assert qpos[0] == pytest.approx(start.qpos)
    assert qpos[1] == pytest.approx(after)
    assert qpos[-1] == pytest.approx(brake.qpos[-1])
    assert stopped == pytest.approx(start.qpos + travel(start.qvel, BRAKING, DT))
    times = np.linspace(0.0, formulation.end_time(brake), len(qpos) - 1)
    for k, time in enumerate(times):
        assert qpos[1 + k] == pytest.approx(formulation.sample(brake, time).qpos, abs=1e-9)
    # Between two samples the joints stay as near to the straight line as said.
    for k in range(len(times) - 1):
        middle = formulation.sample(brake, (times[k] + times[k + 1]) / 2).qpos
        assert (np.abs(middle - (qpos[k + 1] + qpos[k + 2]) / 2) <= off[k + 1] + 1e-9).all()
