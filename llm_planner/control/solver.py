"""Solves the tracking programs with DAQP, a dual active-set solver (Arnstroem, Bemporad, Axehill, 2022)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.coupled import Program
from llm_planner.control.formulation import Bounds, TrackingProblem
from llm_planner.control.reference import Array

ITERATIONS = 200  # at most, for one joint: ten times what is needed, and under a millisecond
COUPLED_ITERATIONS = 1000  # at most, for the program of all joints: some milliseconds
_SOFT = 8  # DAQP's flag for a constraint that may be violated at a price
_EQUALITY = 5  # DAQP's flag for a constraint that holds with equality


class NoSolution(Exception):  # noqa: N818  an expected answer of the solver, caught by the controller
    """The program of a joint is infeasible, or has no answer in time; the message says which."""


class Solver(Protocol):
    """Anything that solves the programs of one tick."""

    def solve(self, bounds: Bounds) -> Array: ...


class JointwiseSolver:
    """One DAQP workspace for each joint, set up once; a tick only changes gradient and bounds."""

    def __init__(
        self,
        problem: TrackingProblem,
        nq: int,
        time_limit: float = math.inf,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`time_limit` [s], by `clock`, is for one tick of all `nq` joints."""
        import daqp

        n, m = problem.H.shape[0], problem.A.shape[0]
        sense = np.zeros(n + m, dtype=np.int32)
        sense[problem.equality_row] = _EQUALITY
        self._n = n
        self._time_limit = time_limit
        self._clock = clock
        self._models: list[Any] = []
        for _ in range(nq):
            model = daqp.Model()
            # At rest at the origin everything is feasible, so set-up cannot fail.
            model.setup(problem.H, np.zeros(n), problem.A, np.ones(n + m), -np.ones(n + m), sense)
            model.settings = {**model.settings, "iter_limit": ITERATIONS}
            self._models.append(model)

    def solve(self, bounds: Bounds) -> Array:
        """Block accelerations (n, nq) of all joints; raises `NoSolution`."""
        x = np.empty((self._n, len(self._models)))
        timed = math.isfinite(self._time_limit)
        deadline = self._clock() + self._time_limit if timed else math.inf
        for joint, model in enumerate(self._models):
            if timed and self._clock() > deadline:
                raise NoSolution(f"no solution within {1e3 * self._time_limit:g} ms")
            model.update(f=bounds.f[joint], bupper=bounds.upper[joint], blower=bounds.lower[joint])
            solution, _, flag, _ = model.solve()
            if flag < 1:
                raise NoSolution(f"the program of joint {joint + 1} has no solution (DAQP exit flag {flag})")
            x[:, joint] = solution
        if not np.isfinite(x).all():
            raise NoSolution("the solver returned a number that is not finite")
        return x


@dataclass(frozen=True)
class Solution:
    """Of a coupled program: `y` (n,), and which of its rows bind, `active` (m,)."""

    y: Array
    active: NDArray[np.bool_]


class CoupledSolver:
    """One DAQP workspace for the whole arm, warm-started as long as the program keeps its size."""

    def __init__(self, time_limit: float = math.inf) -> None:
        """`time_limit` [s] is for one program."""
        self._time_limit = time_limit
        self._shape: tuple[int, int] = (0, 0)
        self._model: Any = None

    def solve(self, program: Program) -> Solution:
        """The best point of `program`; raises `NoSolution` when it is not found in time."""
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
