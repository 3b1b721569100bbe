"""The filter's quadratic program: as little change as possible, acceleration limits hard, the rest by rank.

    minimise    |u|^2 + s_1^2 + s_2^2 + ...
    subject to  lower <= u <= upper,   row . u + s_r / sqrt(w_r) >= need   for each row of rank r,   s_r >= 0

in changes of acceleration u over their limits. Each rank shares one slack: the largest shortfall of its rows counts,
and w_1 >> w_2 >> 1 makes a rank give way only where those before it cannot be kept without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llm_planner.control.reference import Array
from llm_planner.control.safety_filter.barriers import MOST_ROWS, Rows

WEIGHTS = (1e8, 1e4)  # of the ranks: zones, speed
ROWS = MOST_ROWS + 5  # those of zones and of speed
FREE = 1e30  # DAQP's infinity
LEAST_NORM = 1e-7  # of a row; one that no acceleration can change asks for nothing


class FilterProgram:
    """A DAQP workspace for `nq` joints, set up once."""

    def __init__(self, nq: int) -> None:
        import daqp

        self._nq, n = nq, nq + len(WEIGHTS)
        self._rows = np.zeros((ROWS, n))
        self._lower, self._upper = np.full(n + ROWS, -FREE), np.full(n + ROWS, FREE)
        self._lower[nq:n] = 0.0
        self._gradient = np.zeros(n)
        self._model: Any = daqp.Model()
        sense = np.zeros(n + ROWS, dtype=np.int32)
        self._model.setup(np.eye(n), self._gradient, self._rows, self._upper, self._lower, sense)
        self._sense = sense

    def solve(self, lower: Array, upper: Array, ranks: Sequence[Rows]) -> tuple[Array, tuple[str, ...]] | None:
        """The least change u (nq,), `lower` <= 0 <= `upper`, and whose rows bind; None where DAQP gives up."""
        nq, n = self._nq, self._nq + len(WEIGHTS)
        self._rows[:] = 0.0
        self._lower[n:] = -FREE
        self._lower[:nq], self._upper[:nq] = lower, upper
        names: list[str] = []
        used = 0
        for rank, rows in enumerate(ranks):
            place = slice(used, used + len(rows.needs))
            norm = np.sqrt((rows.slopes * rows.slopes).sum(axis=1))
            scale = np.where(norm > LEAST_NORM, 1.0 / np.maximum(norm, LEAST_NORM), 0.0)
            self._rows[place, :nq] = rows.slopes * scale[:, None]
            self._rows[place, nq + rank] = WEIGHTS[rank] ** -0.5
            self._lower[n:][place] = rows.needs * scale
            used += len(rows.needs)
            names += rows.names
        self._model.update(f=self._gradient, A=self._rows, bupper=self._upper, blower=self._lower, sense=self._sense)
        x, _, flag, info = self._model.solve()
        if flag < 1 or not np.isfinite(x).all():
            return None
        binds = info["lam"][n : n + used] != 0.0
        return x[:nq], tuple(name for name, is_bound in zip(names, binds.tolist(), strict=True) if is_bound)
