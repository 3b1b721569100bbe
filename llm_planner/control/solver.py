"""Solves the tracking programs with DAQP, a dual active-set solver (Arnstroem, Bemporad, Axehill, 2022)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from llm_planner.control.formulation import Bounds, TrackingProblem
from llm_planner.control.reference import Array

ITERATIONS = 200  # at most, for one joint: ten times what is needed, and under a millisecond
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
        deadline = self._clock() + self._time_limit
        for joint, model in enumerate(self._models):
            if self._clock() > deadline:
                raise NoSolution(f"no solution within {1e3 * self._time_limit:g} ms")
            model.update(f=bounds.f[joint], bupper=bounds.upper[joint], blower=bounds.lower[joint])
            solution, _, flag, _ = model.solve()
            if flag < 1:
                raise NoSolution(f"the program of joint {joint + 1} has no solution (DAQP exit flag {flag})")
            x[:, joint] = solution
        if not np.isfinite(x).all():
            raise NoSolution("the solver returned a number that is not finite")
        return x
