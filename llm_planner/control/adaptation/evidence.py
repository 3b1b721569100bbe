"""What was measured, summed up: recursive least squares in information form, with a memory that surprise shortens.

Any set of unknowns can be fitted to the sums, and a fit costs the same however long the past. Forgetting follows
Fortescue, Kershenbaum and Ydstie, "Implementation of self-tuning regulators with variable forgetting factors" (1981):
slowly while the model explains what comes, fast when it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.control.reference import Array


@dataclass(frozen=True)
class Memory:
    """Times in s; errors are root mean squares over the joints, in units of the noise."""

    long: float = 15.0
    short: float = 1.0
    surprise: float = 3.0  # an error as large as this shortens the memory to `short`
    outlier: float = 20.0  # a larger one counts as less (Huber, "Robust estimation of a location parameter", 1964)
    # Errors of a model last: measurements closer together than this count as one.
    correlation: float = 0.2


class Evidence:
    """Sums over the remembered past of an unknown theta (size,): single owner.

    `information` (size, size) is Y^T W Y, `pull` (size,) is Y^T W r, `energy` is r^T W r, and `count` how many
    independent numbers were measured; W is one over the variance of a measurement.
    """

    def __init__(self, size: int, memory: Memory | None = None) -> None:
        self.memory = memory or Memory()
        self.information = np.zeros((size, size))
        self.pull = np.zeros(size)
        self.energy = self.count = 0.0

    def add(self, rows: Array, torque: Array, noise: Array, theta: Array, dt: float) -> None:
        """Takes in `torque` (nq,) with the standard deviation `noise` (nq,) that Y = `rows` should explain.

        `theta` is what is believed now, `dt` [s] the time since the last measurement.
        """
        memory = self.memory
        error = float(np.sqrt(np.mean(((torque - rows @ theta) / noise) ** 2)))
        surprised = min(1.0, (error / memory.surprise) ** 4)
        self.fade(np.exp(-dt * (1.0 / memory.long + surprised * (1.0 / memory.short - 1.0 / memory.long))))
        weight = min(1.0, dt / memory.correlation) * min(1.0, memory.outlier / max(error, memory.outlier))
        scaled, measured = rows / noise[:, None], torque / noise
        self.information += weight * scaled.T @ scaled
        self.pull += weight * scaled.T @ measured
        self.energy += weight * float(measured @ measured)
        self.count += weight * len(torque)

    def fade(self, share: float) -> None:
        """Keeps that share of the past."""
        self.information *= share
        self.pull *= share
        self.energy *= share
        self.count *= share

    def unexplained(self, theta: Array) -> float:
        """The energy that `theta` (size,) leaves."""
        return float(self.energy - 2.0 * self.pull @ theta + theta @ self.information @ theta)
