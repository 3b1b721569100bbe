from __future__ import annotations

import mujoco
import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.skills.rewards.sampling import (
    Array,
    ControlRange,
    Plan,
    Rolled,
    Rollouts,
    SamplingSettings,
    controls_at,
    first_plan,
    full_state,
    optimise,
    shifted,
)

GOAL = 0.5  # [m]
LIMIT = np.array([5.0])  # [N]


def to_the_goal(rolled: Rolled) -> Array:
    last = rolled.qpos[:, -1, 0] - rolled.qpos[:, -2, 0]
    away: Array = np.abs(rolled.qpos[:, :, 0] - GOAL).mean(axis=1) + 5.0 * np.abs(last)
    return away


def drive(model: mujoco.MjModel, settings: SamplingSettings, seed: int = 0) -> float:
    """Where the mass is after 3 s of planning ten times a second."""
    data, rollouts, rng = mujoco.MjData(model), Rollouts(model), np.random.default_rng(seed)
    controls = ControlRange(-LIMIT, LIMIT, 0.3 * LIMIT)
    plan = first_plan(0.0, np.zeros(1), settings)
    for _ in range(30):
        plan = shifted(plan, data.time, settings)
        plan = optimise(rollouts, full_state(model, data), to_the_goal, plan, controls, settings, rng)
        for _ in range(5):
            data.ctrl[:] = controls_at(plan, np.array([data.time]), settings)[0]
            mujoco.mj_step(model, data)
    return float(data.qpos[0])


def test_the_mass_is_driven_to_its_goal(rail: mujoco.MjModel) -> None:
    assert drive(rail, SamplingSettings(rollouts=60)) == pytest.approx(GOAL, abs=0.05)


def test_the_same_seed_gives_the_same_motion_and_another_seed_another(rail: mujoco.MjModel) -> None:
    settings = SamplingSettings(rollouts=10)
    assert drive(rail, settings, 1) == drive(rail, settings, 1)
    assert drive(rail, settings, 1) != drive(rail, settings, 2)


def test_predictive_sampling_is_never_worse_than_the_plan_it_starts_from(rail: mujoco.MjModel) -> None:
    data, rollouts, settings = mujoco.MjData(rail), Rollouts(rail), SamplingSettings(rollouts=6)
    controls, rng = ControlRange(-LIMIT, LIMIT, 0.3 * LIMIT), np.random.default_rng(0)
    plan, costs = first_plan(0.0, np.zeros(1), settings), []
    for _ in range(20):
        plan = optimise(rollouts, full_state(rail, data), to_the_goal, plan, controls, settings, rng)
        costs.append(plan.cost)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_candidate_that_is_better_than_all_draws_is_taken(rail: mujoco.MjModel) -> None:
    data, rollouts, settings = mujoco.MjData(rail), Rollouts(rail), SamplingSettings(rollouts=6)
    controls = ControlRange(np.array([-5.0]), np.array([5.0]), np.array([1e-6]))
    pushed = np.full((1, settings.knots, 1), 2.0)
    plan = first_plan(0.0, np.zeros(1), settings)
    rng = np.random.default_rng(0)
    plan = optimise(rollouts, full_state(rail, data), to_the_goal, plan, controls, settings, rng, pushed)
    assert plan.mean == pytest.approx(pushed[0])


def test_the_control_limits_are_kept(rail: mujoco.MjModel) -> None:
    seen = []

    def looked_at(rolled: Rolled) -> Array:
        seen.append(float(np.abs(rolled.controls).max()))
        return to_the_goal(rolled)

    data, rollouts, settings = mujoco.MjData(rail), Rollouts(rail), SamplingSettings()
    controls = ControlRange(-LIMIT, LIMIT, 3.0 * LIMIT)
    plan, rng = first_plan(0.0, np.zeros(1), settings), np.random.default_rng(0)
    optimise(rollouts, full_state(rail, data), looked_at, plan, controls, settings, rng)
    assert max(seen) == pytest.approx(5.0)


def test_futures_whose_cost_is_not_a_number_never_win(rail: mujoco.MjModel) -> None:
    data, rollouts, settings = mujoco.MjData(rail), Rollouts(rail), SamplingSettings()
    controls, rng = ControlRange(-LIMIT, LIMIT, 0.3 * LIMIT), np.random.default_rng(0)
    plan = first_plan(0.0, np.zeros(1), settings)

    def half_broken(rolled: Rolled) -> Array:
        return np.where(np.arange(len(rolled.controls)) % 2 == 1, to_the_goal(rolled), np.nan)

    better = optimise(rollouts, full_state(rail, data), half_broken, plan, controls, settings, rng)
    assert np.isfinite(better.cost)
    assert (better.mean != plan.mean).any()
    broken = optimise(
        rollouts, full_state(rail, data), lambda rolled: np.full(40, np.nan), plan, controls, settings, rng
    )
    assert broken is plan


def test_a_plan_seen_later_goes_on_where_it_was() -> None:
    settings = SamplingSettings(knots=3, horizon=1.0)
    plan = shifted(Plan(0.0, np.array([[0.0], [1.0], [2.0]])), 0.5, settings)
    assert plan.mean[:, 0] == pytest.approx([1.0, 2.0, 2.0])
    assert controls_at(plan, np.array([0.75]), settings)[0] == pytest.approx([1.5])


def test_what_cannot_be_sampled_is_refused(rail: mujoco.MjModel) -> None:
    with pytest.raises(InputError, match="sampling needs two rollouts or more, not 1"):
        SamplingSettings(rollouts=1)
    with pytest.raises(InputError, match=r"finest must lie in \(0, 1\], not 0"):
        SamplingSettings(finest=0.0)
    with pytest.raises(InputError, match=r"need controls \(n, T, 1\) and a start \(3,\) or \(n, 3\), not \(2, 5, 2\)"):
        Rollouts(rail).run(np.zeros(3), np.zeros((2, 5, 2)))
