"""What was measured, summed up: recursive least squares in information form, with exponential forgetting.

Any set of unknowns can be fitted to the sums, and a fit costs the same however long the past.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import Array

CORRELATION = 0.2  # [s] errors of a model last: measurements closer together than this count as one
OUTLIER = (
    20.0  # times the noise; a larger error counts as less (Huber, "Robust estimation of a location parameter", 1964)
)
TINY = 1e-9


class Evidence:
    """Sums over what is remembered of an unknown theta (size,), for `memory` [s]. Single owner.

    `information` (size, size) is Y^T W Y, `pull` (size,) is Y^T W r, `energy` is r^T W r, and `count` how many
    independent numbers were measured; W is one over the variance of a measurement.
    """

    def __init__(self, size: int, memory: float) -> None:
        self.information = np.zeros((size, size))
        self.pull = np.zeros(size)
        self.energy = self.count = 0.0
        self._memory = memory

    def add(self, rows: Array, torque: Array, noise: Array, theta: Array, dt: float) -> None:
        """Takes in `torque` (nq,) with the standard deviation `noise` (nq,) that Y = `rows` should explain.

        `theta` (size,) is what is believed now, `dt` [s] the time since the last measurement.
        """
        error = float(np.sqrt(np.mean(((torque - rows @ theta) / noise) ** 2)))
        weight = min(1.0, dt / CORRELATION) * min(1.0, OUTLIER / max(error, OUTLIER))
        scaled, measured = rows / noise[:, None], torque / noise
        keep = float(np.exp(-dt / self._memory))
        self.information = keep * self.information + weight * scaled.T @ scaled
        self.pull = keep * self.pull + weight * scaled.T @ measured
        self.energy = keep * self.energy + weight * float(measured @ measured)
        self.count = keep * self.count + weight * len(torque)

    def include(self, other: Evidence) -> None:
        """Takes in all that `other` has."""
        self.information = self.information + other.information
        self.pull = self.pull + other.pull
        self.energy += other.energy
        self.count += other.count

    def forget(self, index: NDArray[np.intp]) -> None:
        """Says nothing of the unknowns `index` any more; what is known of the others then is kept.

        This is the Schur complement: those unknowns may have been anything.
        """
        across = self.information[:, index]
        block = across[index] + TINY * np.eye(len(index))
        solved = np.linalg.solve(block, np.column_stack([across.T, self.pull[index]]))
        self.energy -= float(self.pull[index] @ solved[:, -1])
        self.pull = self.pull - across @ solved[:, -1]
        self.information = self.information - across @ solved[:, :-1]
        self.pull[index] = 0.0
        self.information[index, :] = self.information[:, index] = 0.0

    def unexplained(self, theta: Array) -> float:
        """The mean energy that `theta` (size,) leaves, of each number measured; 1 is what noise leaves."""
        left = self.energy - 2.0 * self.pull @ theta + theta @ self.information @ theta
        return max(0.0, float(left)) / max(self.count, 1.0)
