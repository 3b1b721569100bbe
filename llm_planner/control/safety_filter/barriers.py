"""Barrier constraints of zones and speed limits on the next acceleration, and the filter's quadratic program.

A row requires `slope` . u >= need, where u is the change of the acceleration over its limits. If `need` <= 0, the
acceleration of the linearisation satisfies the row. The program changes the acceleration as little as possible, with
hard acceleration limits and ranked rows:

    minimise    |u|^2 + s_1^2 + s_2^2 + ...
    subject to  lower <= u <= upper,   row . u + s_r / sqrt(w_r) >= need   for each row of rank r,   s_r >= 0

The rows of a rank share one slack, so the largest shortfall counts. With w_1 >> w_2 >> 1 a rank gives way only where
the ranks before it require that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.distances import Surroundings
from llm_planner.control.safety_filter.kernel import Ahead
from llm_planner.robots.motion import Array

MOST_ROWS = 15  # for gaps


@dataclass(frozen=True)
class Rows:
    """Rows of one rank: names of their causes, `slopes` (m, nq) and `needs` (m,)."""

    names: Sequence[str]
    slopes: Array
    needs: Array

    def about(self, change: Array) -> Rows:
        """Refer rows that are linearised about the change `u` = `change` (nq,) to no change."""
        return replace(self, needs=self.needs + self.slopes @ change) if len(self.needs) else self

    def short(self, change: Array) -> float:
        """Return by how much `change` (nq,) misses the worst need, 0 if it misses none."""
        return float((self.needs - self.slopes @ change).max(initial=0.0)) if len(self.needs) else 0.0


NO_ROWS = Rows((), np.zeros((0, 0)), np.zeros(0))
SPEED = "speed"  # cause of the rows of a speed limit


@dataclass(frozen=True)
class Barrier:
    """Parameters of the control barrier function; see `safety_filter`."""

    gamma: float  # largest fraction of a clearance that one tick may consume
    margin: float  # [m] beyond the clearance at which the robot glides along a zone


def barrier_room(ahead: Ahead, barrier: Barrier) -> float:
    """Return the least by which a clearance exceeds its barrier, at rest or half way there [m]."""
    return ahead.room(barrier.gamma, barrier.margin)


def barrier_rows(ahead: Ahead, around: Surroundings, barrier: Barrier, acceleration: Array) -> Rows:
    """Build the relevant rows of the gaps of `around`, linearised about the acceleration of `ahead`.

    `acceleration` (nq,) [rad/s^2] scales u.
    """
    slopes, needs = np.empty((MOST_ROWS, len(acceleration))), np.empty(MOST_ROWS)
    solids = ahead.rows(barrier.gamma, barrier.margin, acceleration, slopes, needs)
    return Rows([around.names[solid] for solid in solids], slopes[: len(solids)], needs[: len(solids)])


def speed_rows(jacobian: Array, qvel: Array, speed: float, margin: float, reach: Array) -> Rows:
    """Build the rows that keep point 0 below `margin` times `speed` [m/s] after the hold.

    `jacobian` (3, nq) of point 0 and `qvel` (nq,) are values after the hold. `reach` (nq,) is the change of the joint
    velocities by u = 1.
    """
    velocity = jacobian @ qvel
    present, side = float(np.linalg.norm(velocity)), math.sqrt(0.5 * (1.0 - margin * margin)) * speed
    directions = _frame(*(velocity / max(present, 1e-9)).tolist())
    needs = np.array([present - margin * speed, -side, -side, -side, -side])
    return Rows((SPEED,) * 5, directions @ jacobian * reach, needs)


def _frame(x: float, y: float, z: float) -> Array:
    """Return the opposite of a unit vector and both directions of two perpendicular axes, (5, 3)."""
    sign = math.copysign(1.0, z)  # Duff et al. 2017, without singular cases
    a = -1.0 / (sign + z)
    b = x * y * a
    one, two = (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)
    return np.array([(-x, -y, -z), one, tuple(-v for v in one), two, tuple(-v for v in two)])


WEIGHTS = (1e8, 1e4)  # of the ranks: zones, speed
ROWS = MOST_ROWS + 5  # for zones and speed
FREE = 1e30  # DAQP's infinity
LEAST_NORM = 1e-7  # of a row: below it accelerations have no effect, and the row is dropped


class FilterProgram:
    """Quadratic program of the filter, in one DAQP workspace for `nq` joints."""

    def __init__(self, nq: int) -> None:
        import daqp

        self._nq, n = nq, nq + len(WEIGHTS)
        self._rows = np.zeros((ROWS, n))
        self._lower, self._upper = np.full(n + ROWS, -FREE), np.full(n + ROWS, FREE)
        self._lower[nq:n] = 0.0
        self._needs = self._lower[n:]
        self._gradient = np.zeros(n)
        self._model: Any = daqp.Model()
        sense = np.zeros(n + ROWS, dtype=np.int32)
        self._model.setup(np.eye(n), self._gradient, self._rows, self._upper, self._lower, sense)
        self._sense = sense

    def solve(self, lower: Array, upper: Array, ranks: Sequence[Rows]) -> tuple[Array, tuple[str, ...]] | None:
        """Return the least change u (nq,) and the names of binding rows; None if DAQP finds no solution.

        `lower` <= 0 <= `upper` (nq,) bound u, and `ranks` are the rows of each rank.
        """
        nq, n = self._nq, self._nq + len(WEIGHTS)
        self._lower[:nq], self._upper[:nq] = lower, upper
        names: list[str] = []
        used = 0
        for rank, rows in enumerate(ranks):
            penalty = WEIGHTS[rank] ** -0.5
            kernel.fill(self._rows, self._needs, used, nq + rank, penalty, LEAST_NORM, rows.slopes, rows.needs)
            used += len(rows.needs)
            names += rows.names
        self._rows[used:], self._needs[used:] = 0.0, -FREE
        self._model.update(f=self._gradient, A=self._rows, bupper=self._upper, blower=self._lower, sense=self._sense)
        x, _, flag, info = self._model.solve()
        if flag < 1 or not np.isfinite(x).all():
            return None
        binds = info["lam"][n : n + used] != 0.0
        change = np.minimum(np.maximum(x[:nq], lower), upper)  # DAQP keeps bounds within its tolerance
        return change, tuple(name for name, is_bound in zip(names, binds.tolist(), strict=True) if is_bound)
