import daqp
import numpy as np
import pytest

from llm_planner.control.formulation import Horizon, Reference, StartState, TrackingProblem, Weights
from llm_planner.control.qp_solver import NoSolution, TrackingSolver
from llm_planner.errors import InputError
from llm_planner.robots.limits import JointLimits

NQ = 3
LIMITS = JointLimits(
    np.array([-1.0, -2.0, -0.5]), np.array([1.0, 2.0, 0.5]), np.array([1.0, 0.5, 2.0]), np.array([4.0, 3.0, 8.0])
)
PROBLEM = TrackingProblem(Horizon(), Weights())
TIMES = PROBLEM.horizon.dt * np.arange(1, PROBLEM.horizon.stages + 1)


def at_rest(qpos: float = 0.0) -> StartState:
    return StartState(np.full(NQ, qpos), np.zeros(NQ), np.zeros(NQ))


def solve(start: StartState, reference: Reference, limits: JointLimits = LIMITS) -> np.ndarray:
    return TrackingSolver(PROBLEM).solve(PROBLEM.bounds(start, reference, limits))


def still(qpos: float) -> Reference:
    return Reference(0.01, np.full((len(TIMES) + 2, NQ), qpos), np.zeros((len(TIMES) + 2, NQ)))


def test_the_horizon_is_twenty_stages_of_fifty_milliseconds() -> None:
    assert PROBLEM.horizon.stages == 20
    assert PROBLEM.horizon.dt == 0.05


def test_a_robot_where_it_should_be_stays_there() -> None:
    assert solve(at_rest(0.3), still(0.3)) == pytest.approx(0.0, abs=1e-6)


def test_a_plan_ends_at_rest_at_its_goal() -> None:
    plan = PROBLEM.trajectory(at_rest(), solve(at_rest(), still(0.2)), 5.0, 0.04)

    assert plan.start_time == 5.0
    assert plan.qvel[-1] == pytest.approx(0.0)
    assert plan.qpos[-1] == pytest.approx(0.2, abs=0.01)


def test_every_knot_of_a_plan_keeps_every_bound() -> None:
    plan = PROBLEM.trajectory(at_rest(), solve(at_rest(), still(5.0)), 0.0, 0.04)

    assert (np.abs(plan.qacc) <= LIMITS.acceleration + 1e-6).all()
    assert (np.abs(plan.qvel) <= LIMITS.velocity + 1e-6).all()
    assert (plan.qpos <= LIMITS.upper + 1e-6).all()
    assert plan.qpos[-1][2] == pytest.approx(0.5, abs=0.01)  # at its limit, on the way to 5 rad


def test_the_knots_of_a_plan_follow_from_its_accelerations() -> None:
    start = StartState(np.array([0.1, -0.2, 0.0]), np.array([0.3, 0.0, -0.4]), np.zeros(NQ))
    plan = PROBLEM.trajectory(start, solve(start, still(0.1)), 0.0, 0.04)

    dt = plan.dt
    assert plan.qvel[1:] == pytest.approx(plan.qvel[:-1] + dt * plan.qacc, abs=1e-6)
    assert plan.qpos[1:] == pytest.approx(plan.qpos[:-1] + dt * plan.qvel[:-1] + dt**2 / 2 * plan.qacc, abs=1e-6)


def test_a_start_faster_than_a_lowered_limit_is_braked_and_not_infeasible() -> None:
    start = StartState(np.zeros(NQ), np.array([0.9, 0.45, 1.8]), np.zeros(NQ))
    slow = LIMITS.slower(0.3)

    plan = PROBLEM.trajectory(start, solve(start, still(0.3), limits=slow), 0.0, 0.04)

    assert (np.abs(plan.qvel[10:]) <= slow.velocity + 1e-6).all()


def test_the_joints_together_have_the_same_answer_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    start = StartState(rng.uniform(-0.3, 0.3, NQ), rng.uniform(-0.3, 0.3, NQ), rng.uniform(-1, 1, NQ))
    reference = np.cumsum(rng.uniform(-0.05, 0.05, (len(TIMES) + 2, NQ)), axis=0)
    bounds = PROBLEM.bounds(start, Reference(0.01, reference, np.zeros_like(reference)), LIMITS)
    sense = np.zeros(len(PROBLEM.H) + len(PROBLEM.A), dtype=np.int32)
    sense[PROBLEM.equality_row] = 5
    alone = [
        daqp.solve(PROBLEM.H, f, PROBLEM.A, upper, lower, sense)[0]
        for f, lower, upper in zip(bounds.f, bounds.lower, bounds.upper, strict=True)
    ]
    assert pytest.approx(np.array(alone), abs=1e-4) == TrackingSolver(PROBLEM).solve(bounds).T


def test_a_start_that_cannot_stop_before_a_limit_has_no_solution() -> None:
    start = StartState(np.array([0.0, 0.0, 0.49]), np.array([0.0, 0.0, 1.9]), np.zeros(NQ))

    with pytest.raises(NoSolution, match=r"has no finite solution \(DAQP exit flag -\d"):
        solve(start, still(0.0))


def test_after_a_program_without_solution_the_next_one_is_solved() -> None:
    solver = TrackingSolver(PROBLEM)
    bad = StartState(np.array([0.0, 0.0, 0.49]), np.array([0.0, 0.0, 1.9]), np.zeros(NQ))
    with pytest.raises(NoSolution):
        solver.solve(PROBLEM.bounds(bad, still(0.0), LIMITS))
    good = PROBLEM.bounds(at_rest(), still(0.1), LIMITS)
    assert solver.solve(good) == pytest.approx(TrackingSolver(PROBLEM).solve(good), abs=1e-6)


def test_numbers_that_are_not_finite_are_no_solution() -> None:
    bounds = PROBLEM.bounds(at_rest(), still(np.nan), LIMITS)

    with pytest.raises(NoSolution, match="no finite solution"):
        TrackingSolver(PROBLEM).solve(bounds)


@pytest.mark.parametrize(("dt", "blocks"), [(0.0, (1, 2)), (0.05, ()), (0.05, (1, 0))])
def test_an_empty_horizon_is_rejected(dt: float, blocks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="a horizon needs dt > 0 and blocks of one stage or more"):
        Horizon(dt, blocks)
