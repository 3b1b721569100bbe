"""The quadratic programs of the controller in plain form, and other people's solvers of them behind one seam.

    minimise  1/2 x'Hx + f'x   subject to   lower <= A x <= upper,   least <= x <= most

DAQP (arXiv:2103.16935), OSQP (arXiv:1711.08013), ProxQP (Bambade, El-Kazdadi, Taylor and Carpentier, 2022) and PIQP
(arXiv:2304.00290) are each set up once for a run of programs of one size; a tick then only changes numbers, and those
that can start from their last answer do. Only what is done anew in every tick is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import daqp
import numpy as np
import osqp
import piqp
import proxsuite
from scipy import sparse

Array = np.ndarray
ACCURACY = 1e-6  # asked of the first-order solvers, in the programs' own units: metres, radians and their rates
_EQUALITY, _LARGE = 5, 1e20  # DAQP's flag for an equation; a bound that is none


@dataclass(frozen=True)
class Program:
    """`H` (n, n), `f` (n,), `A` (m, n), `lower` and `upper` (m,), `least` and `most` (n,).

    Programs of one run share their size, their equations, and the places where H and A are zero.
    """

    H: Array
    f: Array
    A: Array
    lower: Array
    upper: Array
    least: Array
    most: Array

    @property
    def bounded(self) -> Array:
        """Unit rows (k, n) of the variables that have a bound."""
        return np.eye(len(self.f))[(self.least > -_LARGE) | (self.most < _LARGE)]

    @property
    def stacked(self) -> tuple[Array, Array]:
        """Bounds (n + m,) of x and then of A x."""
        lower, upper = np.concatenate([self.least, self.lower]), np.concatenate([self.most, self.upper])
        return np.clip(lower, -_LARGE, _LARGE), np.clip(upper, -_LARGE, _LARGE)

    def violation(self, x: Array) -> float:
        """By how much `x` (n,) breaks the worst bound."""
        rows, (lower, upper) = np.concatenate([x, self.A @ x]), self.stacked
        return float(max(0.0, (lower - rows).max(), (rows - upper).max()))


Solve = Callable[[Program], tuple[Array, float]]  # the answer (n,), not a number where there is none; and CPU seconds


class Pattern:
    """Where a matrix can differ from zero in a run of programs; sparse matrices keep the places of their numbers."""

    def __init__(self, matrices: Sequence[Array]) -> None:
        self._columns = np.any([matrix != 0 for matrix in matrices], axis=0).T
        self._shape = matrices[0].shape
        ends = np.concatenate([[0], np.cumsum(self._columns.sum(axis=1))])
        self._frame = (np.nonzero(self._columns)[1].astype(np.int32), ends.astype(np.int32))

    def numbers(self, matrix: Array) -> Array:
        """In the order of compressed columns."""
        return np.ascontiguousarray(matrix.T[self._columns])

    def sparse(self, matrix: Array) -> sparse.csc_matrix:
        return sparse.csc_matrix((self.numbers(matrix), *self._frame), shape=self._shape)


class Rows:
    """The rows of A, equations apart from the others, as two of the solvers want them."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.changing = any(program.A is not programs[0].A for program in programs)
        self._equal = programs[0].lower == programs[0].upper

    def matrices(self, A: Array) -> tuple[Array, Array]:
        return A[self._equal], A[~self._equal]

    def bounds(self, program: Program) -> tuple[Array, Array, Array]:
        """b of the equations; lower and upper bounds of the other rows."""
        lower, upper = (np.clip(bound, -_LARGE, _LARGE) for bound in (program.lower, program.upper))
        return lower[self._equal], lower[~self._equal], upper[~self._equal]


def plain_daqp(programs: Sequence[Program]) -> Solve:
    """One dense program for the whole robot, warm started with its working set."""
    first, rows = programs[0], Rows(programs)
    lower, upper = first.stacked
    model: Any = daqp.Model()
    model.setup(first.H, first.f, first.A, upper, lower, np.where(lower == upper, _EQUALITY, 0).astype(np.int32))

    def solve(program: Program) -> tuple[Array, float]:
        lower, upper = program.stacked
        matrices = {"A": program.A} if rows.changing else {}
        began = time.thread_time()
        model.update(f=program.f, bupper=upper, blower=lower, **matrices)
        x, _, flag, _ = model.solve()
        return _answer(x, flag > 0), time.thread_time() - began

    return solve


def osqp_sparse(programs: Sequence[Program]) -> Solve:
    """Warm started by itself with its last answer."""
    first, rows, unit = programs[0], Rows(programs), programs[0].bounded
    pattern = Pattern([np.vstack([unit, program.A]) for program in programs])

    def sides(program: Program) -> tuple[Array, Array]:
        lower = np.concatenate([unit @ program.least, program.lower])
        return _endless(lower), _endless(np.concatenate([unit @ program.most, program.upper]))

    lower, upper = sides(first)
    accuracy = {"eps_abs": ACCURACY, "eps_rel": ACCURACY, "max_iter": 4000}
    solver = osqp.OSQP()
    matrices = sparse.triu(first.H, format="csc"), first.f, pattern.sparse(np.vstack([unit, first.A]))
    solver.setup(*matrices, lower, upper, verbose=False, **accuracy)

    def solve(program: Program) -> tuple[Array, float]:
        lower, upper = sides(program)
        matrices = {"Ax": pattern.numbers(np.vstack([unit, program.A]))} if rows.changing else {}
        began = time.thread_time()
        solver.update(q=program.f, l=lower, u=upper, **matrices)
        answer = solver.solve(raise_error=False)
        spent = time.thread_time() - began
        return _answer(answer.x, answer.info.status_val in (1, 2)), spent

    return solve


def proxqp_dense(programs: Sequence[Program]) -> Solve:
    """Warm started with its last answer. Bounds of x are rows: its updates of boxes need every matrix again."""
    first, rows, unit = programs[0], Rows(programs), programs[0].bounded

    def sides(program: Program) -> dict[str, Array]:
        b, lower, upper = rows.bounds(program)
        return {
            "b": b,
            "l": np.concatenate([lower, unit @ program.least]),
            "u": np.concatenate([upper, unit @ program.most]),
        }

    def matrices(program: Program) -> dict[str, Array]:
        A, C = rows.matrices(program.A)
        return {"A": A, "C": np.vstack([C, unit])}

    sizes = (len(first.f), len(sides(first)["b"]), len(sides(first)["l"]))
    solver = proxsuite.proxqp.dense.QP(*sizes)
    solver.settings.eps_abs = ACCURACY
    solver.settings.max_iter, solver.settings.max_iter_in = 100, 100  # else it takes seconds for what has no solution
    solver.settings.initial_guess = proxsuite.proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
    solver.init(H=first.H, g=first.f, **matrices(first), **sides(first))
    solver.solve()  # it ends the process when it is told to start from an answer that it has not got

    def solve(program: Program) -> tuple[Array, float]:
        numbers = sides(program) | (matrices(program) if rows.changing else {})
        began = time.thread_time()
        solver.update(g=program.f, **numbers)
        solver.solve()
        spent = time.thread_time() - began
        solved = solver.results.info.status == proxsuite.proxqp.QPSolverOutput.PROXQP_SOLVED
        return _answer(solver.results.x, solved), spent

    return solve


def piqp_dense(programs: Sequence[Program]) -> Solve:
    """An interior point method: no warm start."""
    return _piqp(programs, piqp.DenseSolver(), lambda matrices: np.asfortranarray)


def piqp_sparse(programs: Sequence[Program]) -> Solve:
    """As `piqp_dense`, in sparse matrices."""
    return _piqp(programs, piqp.SparseSolver(), lambda matrices: Pattern(matrices).sparse)


def _piqp(programs: Sequence[Program], solver: Any, former: Callable[[list[Array]], Callable[[Array], Any]]) -> Solve:
    first, rows = programs[0], Rows(programs)
    split = [rows.matrices(program.A) for program in programs]
    cost, equations, others = (
        former([p.H for p in programs]),
        former([s[0] for s in split]),
        former([s[1] for s in split]),
    )
    A, G = equations(split[0][0]), others(split[0][1])
    b, *sides = rows.bounds(first)
    solver.setup(cost(first.H), first.f, A, b, G, *map(_endless, (*sides, first.least, first.most)))

    def solve(program: Program) -> tuple[Array, float]:
        b, *sides = rows.bounds(program)
        h_l, h_u, x_l, x_u = map(_endless, (*sides, program.least, program.most))
        A, G = rows.matrices(program.A)
        matrices = {"A": equations(A), "G": others(G)} if rows.changing else {}
        began = time.thread_time()
        solver.update(c=program.f, b=b, h_l=h_l, h_u=h_u, x_l=x_l, x_u=x_u, **matrices)
        status = solver.solve()
        spent = time.thread_time() - began
        return _answer(solver.result.x, status == piqp.PIQP_SOLVED), spent

    return solve


def _endless(bounds: Array) -> Array:
    """Infinite where they are none."""
    return np.where(np.abs(bounds) >= _LARGE, np.copysign(np.inf, bounds), bounds)


def _answer(x: Array, solved: bool) -> Array:
    return np.array(x) if solved else np.full(len(x), np.nan)


PEERS: dict[str, Callable[[Sequence[Program]], Solve]] = {
    "DAQP, one program": plain_daqp,
    "OSQP": osqp_sparse,
    "ProxQP": proxqp_dense,
    "PIQP, dense": piqp_dense,
    "PIQP, sparse": piqp_sparse,
}
