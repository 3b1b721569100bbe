import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.adaptation import Shift
from llm_planner.control.formulation import StartState
from llm_planner.robots.motion import JointTrajectory

DT = 0.05


def moving(start_time: float) -> JointTrajectory:
    """A plan of one second that brakes to rest in its second half."""
    qacc = np.repeat([[1.0, -0.5], [-1.0, 0.5]], 10, axis=0)
    return formulation.integrate(StartState(np.zeros(2), np.zeros(2), np.zeros(2)), qacc, start_time, DT, 0.03)


def standing(start_time: float) -> JointTrajectory:
    return formulation.hold(np.array([0.1, 0.2]), start_time, DT, 0.03)


def is_consistent(plan: JointTrajectory) -> bool:
    again = formulation.integrate(
        StartState(plan.qpos[0], plan.qvel[0], plan.qacc[0]), plan.qacc, plan.start_time, plan.dt, 0.0
    )
    return np.allclose(again.qpos, plan.qpos, atol=1e-12) and np.allclose(again.qvel, plan.qvel, atol=1e-12)


def test_no_shift_leaves_a_plan_as_it_is() -> None:
    plan = moving(0.0)
    shifted = Shift(2).applied(plan, np.zeros(2))

    np.testing.assert_array_equal(shifted.qpos, plan.qpos)
    np.testing.assert_array_equal(shifted.qacc, plan.qacc)
    assert (shifted.start_time, shifted.dt, shifted.gripper_width) == (0.0, DT, 0.03)


@pytest.mark.parametrize("plan", [moving(0.0), standing(0.0)])
def test_a_shifted_plan_starts_where_it_was_ends_shifted_and_at_rest(plan: JointTrajectory) -> None:
    shifted = Shift(2).applied(plan, np.array([0.002, -0.001]))

    assert is_consistent(shifted)
    np.testing.assert_allclose(shifted.qpos[0], plan.qpos[0])
    np.testing.assert_allclose(shifted.qpos[-1], plan.qpos[-1] + [0.002, -0.001])
    np.testing.assert_allclose(shifted.qvel[-1], 0.0, atol=1e-12)


def test_a_shift_goes_on_from_plan_to_plan_without_a_jump() -> None:
    shift, before = Shift(2), None
    for tick in range(100):
        now = 0.01 * tick
        command = shift.applied(standing(now), np.array([0.002, 0.0]) * (1 if tick < 50 else -1))
        if before is not None:
            earlier = formulation.sample(before, now)
            np.testing.assert_allclose(command.qpos[0], earlier.qpos, atol=1e-12)
            np.testing.assert_allclose(command.qvel[0], earlier.qvel, atol=1e-12)
        assert np.abs(command.qacc).max() < 1.5
        before = command

    np.testing.assert_allclose(formulation.sample(before, 0.99).qpos - [0.1, 0.2], [-0.002, 0.0], atol=2e-4)
