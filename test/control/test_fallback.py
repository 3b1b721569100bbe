import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import LimitShare

PANDA = arm_model("panda")

HOME = np.array(PANDA.home)
STOPPING = LimitShare().stopping(PANDA.limits)


def moving(qvel: np.ndarray) -> StartState:
    return StartState(HOME, qvel, np.zeros(7))


def test_braking_ends_at_rest_within_the_acceleration_limit() -> None:
    plan = formulation.brake(moving(0.9 * PANDA.limits.qvel_max), STOPPING, 2.0, 0.05, 0.03)

    assert plan.qvel[-1] == pytest.approx(0.0, abs=1e-12)
    assert (np.abs(plan.qacc) <= STOPPING.acceleration + 1e-9).all()
    assert plan.gripper_width == 0.03


def test_each_joint_brakes_for_as_short_as_it_can() -> None:
    plan = formulation.brake(moving(np.array([0.1, 2.0, 0, 0, 0, 0, 0])), STOPPING, 0.0, 0.05, 0.0)

    assert plan.qvel[1][0] == pytest.approx(0.0, abs=1e-12)
    assert plan.qvel[1][1] > 0.5


def test_braking_together_all_joints_come_to_rest_at_once_and_straight_on() -> None:
    plan = formulation.brake_together(moving(np.array([0.1, 2.0, 0, 0, 0, 0, 0])), 4, 1.0, 0.05, 0.03)

    assert len(plan.qacc) == 4
    assert plan.qvel[1] == pytest.approx(0.75 * plan.qvel[0])
    assert plan.qvel[-1] == pytest.approx(0.0, abs=1e-12)
    assert plan.gripper_width == 0.03


def test_braking_from_rest_stays_put() -> None:
    plan = formulation.brake(moving(np.zeros(7)), STOPPING, 0.0, 0.05, 0.0)
    assert plan.qpos[-1] == pytest.approx(HOME)


def test_a_plan_is_sampled_between_its_knots_and_held_outside() -> None:
    plan = formulation.brake(moving(np.full(7, 0.5)), STOPPING, 1.0, 0.05, 0.0)

    assert formulation.sample(plan, 0.0).qpos == pytest.approx(HOME)
    half = formulation.sample(plan, 1.025)
    assert half.qvel == pytest.approx((plan.qvel[0] + plan.qvel[1]) / 2)
    after = formulation.sample(plan, formulation.end_time(plan) + 1.0)
    assert after.qpos == pytest.approx(plan.qpos[-1])
    assert after.qvel == pytest.approx(0.0)


def test_a_time_on_a_knot_belongs_to_the_stage_that_begins_there() -> None:
    plan = formulation.brake(moving(np.array([0, 2.0, 0, 0, 0, 0, 0])), STOPPING, 0.1, 0.05, 0.0)
    assert formulation.sample(plan, 0.1 + 3 * 0.05).qvel == pytest.approx(plan.qvel[3], abs=1e-9)


def test_holding_is_a_plan_at_rest() -> None:
    plan = formulation.hold(HOME, 3.0, 0.05, 0.02)
    assert formulation.sample(plan, 3.04).qpos == pytest.approx(HOME)
    assert not plan.qvel.any()
