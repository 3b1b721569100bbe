"""Solvers of the tracking programs with DAQP, a dual active-set solver (Arnstroem, Bemporad, Axehill, 2022).

`TrackingSolver` solves the programs of tracking alone, in which no row couples two joints. `CoupledProblem` and
`CoupledSolver` add rows that couple them, which zones and the speed limit of the gripper point require.

In the coupled program a substitution x = e v0 + Z w eliminates the rest at the end for each joint. The Cholesky factor
of H in these coordinates, w = R^-1 y, then turns the Hessian of the whole arm into the identity, with x = e v0 + T y.
A row on the joints at stage k is an outer product of its gradient and a row of P T (positions) or V T (velocities):

    minimise    |y|^2 / 2 + f y + penalties of slack
    subject to  |x_b| <= a_max                                        hard
                joint velocities and positions                        slack, highest penalty
                gradient_k q_k >= least_k                             slack (`KeepOutRows`)
                |gradient_k qdot_k| <= most_k, at the ends of blocks  slack, lowest penalty (`SpeedRows`)

Penalties are linear and quadratic in each row's slack, and far above the tracking cost. Feasible constraints therefore
hold, and the plan approaches infeasible ones as fast as the accelerations allow. The program always has a solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.formulation import Bounds, StartState, TrackingProblem
from llm_planner.control.keep_out import KeepOutRows, SpeedRows
from llm_planner.robots.motion import Array

UNBOUNDED = 1e30  # DAQP's infinity


# Linear and quadratic penalties on slack s >= 0: linear * s + quadratic * s^2 / 2.
JOINT_STATE_PENALTY = (1e7, 1e9)  # of [rad] and [rad/s]
KEEP_OUT_PENALTY = (1e6, 1e8)  # of [m]
SPEED_PENALTY = (3e4, 1e6)  # of [m/s]


@dataclass(frozen=True)
class Program:
    """Quadratic program: minimise |y|^2 / 2 + f y subject to lower <= A y <= upper.

    The first `hard` rows have no slack. `linear` and `quadratic` (m,) are the penalties of each row's slack.
    """

    f: Array
    A: Array
    lower: Array
    upper: Array
    hard: int
    linear: Array
    quadratic: Array


class CoupledProblem:
    """Constant matrices of the coupled program, for `nq` joints that share one `TrackingProblem`."""

    def __init__(self, problem: TrackingProblem, nq: int) -> None:
        self._problem, self._nq = problem, nq
        end = problem.velocity[-1]
        self._rest = -end / (end @ end)  # (n,): least accelerations that stop a joint from 1 rad/s
        directions = np.linalg.svd(end[None])[2][1:].T
        factor = np.linalg.cholesky(directions.T @ problem.H @ directions)
        self._expand = directions @ np.linalg.inv(factor).T  # T, (n, n - 1)
        self._velocity, self._position = problem.velocity @ self._expand, problem.position @ self._expand
        n, ends = len(end), problem.block_ends
        self.turns = ends[:-1]  # stages between which velocities are linear
        # Rows of TrackingProblem's bounds: accelerations, velocities except the last, positions at the ends of blocks.
        self._kept = np.concatenate([np.arange(2 * n - 1), 2 * n + ends])
        stacked = np.vstack([np.eye(n), problem.A])[self._kept]
        self._offset = stacked @ self._rest
        self._fixed = np.kron(np.eye(nq), stacked @ self._expand)
        self._order = np.argsort(np.tile(np.arange(len(stacked)) >= n, nq), kind="stable")  # hard rows first
        self._fixed = self._fixed[self._order]
        self._hard = n * nq

    def program(
        self, bounds: Bounds, start: StartState, keep_out: KeepOutRows | None, speed: SpeedRows | None
    ) -> Program:
        """Assemble the program of a tick from the `bounds` of single joints and the rows that couple joints."""
        offset = np.outer(start.qvel, self._offset)
        blocks = [self._fixed]
        lower = [(bounds.lower[:, self._kept] - offset).ravel()[self._order]]
        upper = [(bounds.upper[:, self._kept] - offset).ravel()[self._order]]
        counts = [(len(lower[0]), JOINT_STATE_PENALTY)]
        if keep_out is not None:
            free = self._problem.coast(start) + np.outer(self._problem.position @ self._rest, start.qvel)
            apart = keep_out.least - np.einsum("kpj,kj->kp", keep_out.gradient, free)
            blocks.append(self._rows(keep_out.gradient, self._position))
            lower.append(apart.ravel())
            upper.append(np.full(apart.size, UNBOUNDED))
            counts.append((apart.size, KEEP_OUT_PENALTY))
        if speed is not None:
            free = start.qvel + np.outer(self._problem.velocity[self.turns] @ self._rest, start.qvel)
            there = np.einsum("kfj,kj->kf", speed.gradient, free)
            blocks.append(self._rows(speed.gradient, self._velocity[self.turns]))
            lower.append((-speed.most - there).ravel())
            upper.append((speed.most - there).ravel())
            counts.append((there.size, SPEED_PENALTY))
        f = (bounds.f + np.outer(start.qvel, self._problem.H @ self._rest)) @ self._expand
        return Program(
            f.ravel(),
            np.concatenate(blocks),
            np.concatenate(lower),
            np.concatenate(upper),
            self._hard,
            *(np.concatenate([np.full(count, penalty[k]) for count, penalty in counts]) for k in (0, 1)),
        )

    def _rows(self, gradient: Array, stages: Array) -> Array:
        """Convert gradients (K, P, nq) by the joints at each stage to rows on y."""
        rows: Array = np.einsum("kpj,kn->kpjn", gradient, stages).reshape(-1, self._fixed.shape[1])
        return rows

    def accelerations(self, y: Array, start: StartState) -> Array:
        """Convert `y` to block accelerations (n, nq)."""
        x: Array = self._expand @ y.reshape(self._nq, -1).T + np.outer(self._rest, start.qvel)
        return x


ITERATIONS = 200  # limit for one joint, some tenths of a millisecond: ten times the usual number
TOLERANCE = 1e-9  # [rad and its rates] excess over a bound that counts as none
COUPLED_ITERATIONS = 1000  # limit for the coupled program: some milliseconds
_SOFT = 8  # DAQP's flag for a constraint that may be violated at a price
_EQUALITY = 5  # DAQP's flag for a constraint that holds with equality


class NoSolution(Exception):  # noqa: N818  an expected answer of the solver, caught by the controller
    """A program is infeasible or was not solved in time."""


class TrackingSolver:
    """Solver of the tracking programs of all joints.

    A linear map of the gradients gives the minima without inequality constraints, which most joints satisfy. DAQP
    solves the programs of the other joints, in one workspace because they differ in gradient and bounds alone.
    """

    def __init__(self, problem: TrackingProblem) -> None:
        self._problem = problem
        n, end = len(problem.H), problem.velocity[-1:]
        self._rows = np.vstack([np.eye(n), problem.A])
        minimum = np.linalg.inv(np.block([[problem.H, end.T], [end, np.zeros((1, 1))]]))[:n]
        self._by_gradient = np.ascontiguousarray(-(self._rows @ minimum[:, :n]).T)
        self._by_end = self._rows @ minimum[:, n]
        self._model = self._new_model()

    def solve(self, bounds: Bounds) -> Array:
        """Return the block accelerations (n, nq) of all joints; raises `NoSolution`."""
        end = bounds.upper[:, self._problem.equality_row, None]
        rows = bounds.f @ self._by_gradient + end * self._by_end
        excess = np.maximum(bounds.lower - rows, rows - bounds.upper)
        x = rows[:, : bounds.f.shape[1]]
        if not excess.max() <= TOLERANCE:  # also if it is not a number
            for joint in np.flatnonzero(~(excess.max(axis=1) <= TOLERANCE)):
                x[joint] = self._bounded(bounds.f[joint], bounds.upper[joint], bounds.lower[joint])
        accelerations: Array = x.T
        return accelerations

    def _bounded(self, f: Array, upper: Array, lower: Array) -> Array:
        self._model.update(f=f, bupper=upper, blower=lower)
        x, _, flag, _ = self._model.solve()
        if flag < 1 or not math.isfinite(x @ x):
            self._model = self._new_model()  # the next program starts afresh
            raise NoSolution(f"the program of tracking has no finite solution (DAQP exit flag {flag})")
        solved: Array = x
        return solved

    def _new_model(self) -> Any:
        import daqp

        problem, (m, n) = self._problem, self._rows.shape
        sense = np.zeros(m, dtype=np.int32)
        sense[problem.equality_row] = _EQUALITY
        model, bound = daqp.Model(), np.ones(m)
        # These bounds are feasible at the origin, so the setup cannot fail.
        model.setup(problem.H, np.zeros(n), problem.A, bound, -bound, sense)
        model.settings = {**model.settings, "iter_limit": ITERATIONS}
        return model


@dataclass(frozen=True)
class Solution:
    """Solution `y` (n,) of a coupled program, and the mask of its `active` rows (m,)."""

    y: Array
    active: NDArray[np.bool_]


class CoupledSolver:
    """Solver with one DAQP workspace for all joints, warm-started while the program keeps its size."""

    def __init__(self, time_limit: float = math.inf) -> None:
        """Create a solver with a `time_limit` [s] for one program."""
        self._time_limit = time_limit
        self._shape: tuple[int, int] = (0, 0)
        self._model: Any = None

    def solve(self, program: Program) -> Solution:
        """Solve `program`; raises `NoSolution` if no solution is found in time."""
        if program.A.shape != self._shape:
            self._set_up(program)
        else:
            self._model.update(f=program.f, A=program.A, bupper=program.upper, blower=program.lower)
        y, _, flag, info = self._model.solve()
        if flag < 1 or not np.isfinite(y).all():
            self._shape = (0, 0)  # the next program starts afresh
            raise NoSolution(f"the program of all joints has no solution (DAQP exit flag {flag})")
        return Solution(y, np.asarray(info["lam"]) != 0.0)

    def _set_up(self, program: Program) -> None:
        import daqp

        rows, n = program.A.shape
        sense = np.zeros(rows, dtype=np.int32)
        sense[program.hard :] = _SOFT
        self._model, self._shape = daqp.Model(), (rows, n)
        self._model.setup(np.eye(n), program.f, program.A, program.upper, program.lower, sense)
        reciprocal = 1.0 / program.quadratic
        self._model.soft_weights(
            rho_l=reciprocal, rho_u=reciprocal, w_l=program.linear.copy(), w_u=program.linear.copy()
        )
        limit = {"time_limit": self._time_limit} if math.isfinite(self._time_limit) else {}
        self._model.settings = {**self._model.settings, "iter_limit": COUPLED_ITERATIONS, **limit}
