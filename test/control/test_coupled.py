"""The program of all joints together: the answers of the joints one by one, of another solver, and its priorities."""

from __future__ import annotations

import numpy as np
import piqp
import pytest

from llm_planner.control.formulation import Bounds, Horizon, Reference, StartState, TrackingProblem, Weights
from llm_planner.control.keep_out import KeepOutRows, SpeedRows
from llm_planner.control.qp_solver import UNBOUNDED, CoupledProblem, CoupledSolver, NoSolution, Program, TrackingSolver
from llm_planner.robots.limits import JointLimits

NQ = 3
LIMITS = JointLimits(np.full(NQ, -2.0), np.full(NQ, 2.0), np.array([1.0, 0.5, 1.5]), np.array([4.0, 3.0, 8.0]))
TRACKING = TrackingProblem(Horizon(), Weights())
COUPLED = CoupledProblem(TRACKING, NQ)
STAGES, TURNS = TRACKING.horizon.stages, COUPLED.turns


def random_start(rng: np.random.Generator) -> StartState:
    return StartState(rng.uniform(-0.5, 0.5, NQ), rng.uniform(-0.4, 0.4, NQ), np.zeros(NQ))


def towards(start: StartState, goal: np.ndarray) -> Bounds:
    rest = Reference(0.01, np.tile(goal, (STAGES + 2, 1)), np.zeros((STAGES + 2, NQ)))
    return TRACKING.bounds(start, rest, LIMITS)


def plane(gradient: np.ndarray, least: float) -> KeepOutRows:
    """The same half-space at every stage, all of it beyond the bare clearance."""
    return KeepOutRows(
        np.tile(gradient, (STAGES, 1, 1)), np.full((STAGES, 1), least), np.zeros((STAGES, 1)), zones=(0,)
    )


def rows_of(rng: np.random.Generator, start: StartState) -> tuple[KeepOutRows, SpeedRows]:
    """Two planes that the robot starts before or just behind, and a box around the velocity of a point."""
    gradient = np.tile(rng.normal(size=(2, NQ)), (STAGES, 1, 1)) + 0.1 * rng.normal(size=(STAGES, 2, NQ))
    least = np.einsum("kpj,j->kp", gradient, start.qpos) + rng.uniform(-0.2, 0.02, 2)
    jacobian = np.tile(rng.normal(size=(3, NQ)), (STAGES, 1, 1)) * 0.5
    keep_out = KeepOutRows(gradient, least, np.zeros_like(least), (0, 1))
    return keep_out, SpeedRows(jacobian[: len(TURNS)], np.full((len(TURNS), 3), 0.3))


def by_piqp(program: Program) -> np.ndarray:
    """The best y by an interior-point method, every slack a variable of its own."""
    m, n = program.A.shape
    soft = m - program.hard
    scale = np.sqrt(program.quadratic[program.hard :])  # of the slacks, so that their Hessian too is the identity
    give = np.vstack([np.zeros((program.hard, soft)), np.diag(1.0 / scale)])
    solver = piqp.DenseSolver()
    solver.setup(
        np.eye(n + soft),
        np.concatenate([program.f, program.linear[program.hard :] / scale]),
        None,
        None,
        np.vstack([np.hstack([program.A, give]), np.hstack([program.A, -give])]),
        np.concatenate([program.lower, np.full(m, -np.inf)]),
        np.concatenate([np.full(m, np.inf), np.where(program.upper < UNBOUNDED, program.upper, np.inf)]),
        np.concatenate([np.full(n, -np.inf), np.zeros(soft)]),
        np.full(n + soft, np.inf),
    )
    assert solver.solve() == piqp.PIQP_SOLVED
    y: np.ndarray = solver.result.x[:n]
    return y


def test_without_rows_the_joints_together_do_what_they_do_one_by_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = random_start(rng)
        bounds = towards(start, rng.uniform(-1.5, 1.5, NQ))
        program = COUPLED.program(bounds, start, None, None)
        together = COUPLED.accelerations(CoupledSolver().solve(program).y, start)
        assert together == pytest.approx(TrackingSolver(TRACKING).solve(bounds), abs=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_an_interior_point_method_finds_the_same_plan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = random_start(rng)
    keep_out, speed = rows_of(rng, start)
    program = COUPLED.program(towards(start, rng.uniform(-1.5, 1.5, NQ)), start, keep_out, speed)
    ours = COUPLED.accelerations(CoupledSolver().solve(program).y, start)
    theirs = COUPLED.accelerations(by_piqp(program), start)
    assert TRACKING.motion(start, ours)[0] == pytest.approx(TRACKING.motion(start, theirs)[0], abs=2e-4)


def test_a_solver_that_starts_from_its_last_answer_finds_the_same_as_a_fresh_one() -> None:
    rng = np.random.default_rng(1)
    warm = CoupledSolver()
    for _ in range(10):
        start = random_start(rng)
        program = COUPLED.program(towards(start, rng.uniform(-1.5, 1.5, NQ)), start, *rows_of(rng, start))
        assert warm.solve(program).y == pytest.approx(CoupledSolver().solve(program).y, abs=1e-3)


def test_a_row_is_kept_at_every_stage_and_said_to_bind() -> None:
    start = StartState(np.zeros(NQ), np.zeros(NQ), np.zeros(NQ))
    program = COUPLED.program(towards(start, np.ones(NQ)), start, plane(np.array([[-1.0, -1.0, 0.0]]), -0.3), None)
    solution = CoupledSolver().solve(program)
    qpos = TRACKING.motion(start, COUPLED.accelerations(solution.y, start))[0]
    assert (qpos[:, 0] + qpos[:, 1]).max() == pytest.approx(0.3, abs=1e-5)
    assert qpos[-1, 2] > 0.7, "the third joint has nothing to do with it"
    assert solution.active[-STAGES:].any()


def test_what_cannot_be_kept_is_approached_as_fast_as_the_accelerations_allow() -> None:
    start = StartState(np.zeros(NQ), np.zeros(NQ), np.zeros(NQ))
    program = COUPLED.program(towards(start, -np.ones(NQ)), start, plane(np.array([[1.0, 0.0, 0.0]]), 0.1), None)
    x = COUPLED.accelerations(CoupledSolver().solve(program).y, start)
    assert x[0, 0] == pytest.approx(LIMITS.acceleration[0])
    assert TRACKING.motion(start, x)[0][-1, 0] == pytest.approx(0.1, abs=1e-3)


def test_where_both_cannot_be_kept_the_zone_comes_before_the_speed() -> None:
    start = StartState(np.zeros(NQ), np.zeros(NQ), np.zeros(NQ))
    keep_out = plane(np.array([[1.0, 0.0, 0.0]]), 0.1)
    slow = SpeedRows(np.tile(np.eye(NQ), (len(TURNS), 1, 1)), np.full((len(TURNS), 3), 0.05))
    program = COUPLED.program(towards(start, np.zeros(NQ)), start, keep_out, slow)
    qpos, qvel = TRACKING.motion(start, COUPLED.accelerations(CoupledSolver().solve(program).y, start))
    assert qpos[8, 0] > 0.09
    assert qvel[:, 0].max() > 0.2


def test_the_plan_ends_at_rest() -> None:
    rng = np.random.default_rng(2)
    start = random_start(rng)
    program = COUPLED.program(towards(start, np.ones(NQ)), start, *rows_of(rng, start))
    x = COUPLED.accelerations(CoupledSolver().solve(program).y, start)
    assert TRACKING.motion(start, x)[1][-1] == pytest.approx(np.zeros(NQ), abs=1e-9)


def test_a_program_that_is_no_program_has_no_solution() -> None:
    start = StartState(np.zeros(NQ), np.full(NQ, 50.0), np.zeros(NQ))
    program = COUPLED.program(towards(start, np.ones(NQ)), start, None, None)
    with pytest.raises(NoSolution, match="the program of all joints has no solution"):
        CoupledSolver().solve(program)
