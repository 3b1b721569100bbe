"""Monitor of the simulated joints against the robot's limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.robots import RobotLimits

Array = NDArray[np.float64]
ROOM = 1024  # physics steps evaluated together, which makes the cost negligible


class LimitWatch:
    """Largest |qvel| and |qacc| relative to their limits, over every physics step.

    The acceleration is the velocity change over `window` steps of `dt` [s], divided by their duration. Several steps
    show the effect of the drives rather than of impacts, such as closing fingers, which change the velocity within one.
    """

    def __init__(self, limits: RobotLimits, dt: float, window: int = 1) -> None:
        nq = len(limits.qvel_max)
        self._limits, self._dt, self._window = limits, dt, window
        self._qvel = np.zeros((ROOM, nq))
        self._filled = 1  # row 0: velocity before the first step
        self._qvel_ratio, self._qacc_ratio = np.zeros(nq), np.zeros(nq)

    def restart(self, qvel: Array) -> None:
        """Continue from joint velocities `qvel` (nq,) [rad/s] without counting the change as acceleration."""
        self._flush()
        self._qvel[0], self._filled = qvel, 1

    def rows(self, steps: int) -> Array:
        """Return the rows to fill with joint velocities (steps, nq) [rad/s] after each of the coming physics steps."""
        if self._filled + steps > len(self._qvel):
            self._flush()
            if self._filled + steps > len(self._qvel):
                self._qvel = np.vstack([self._qvel[: self._filled], np.zeros((steps, self._qvel.shape[1]))])
        start = self._filled
        self._filled += steps
        return self._qvel[start : self._filled]

    @property
    def qvel_ratio(self) -> Array:
        """Largest |qvel| of each joint as a share of its limit, (nq,)."""
        self._flush()
        return self._qvel_ratio

    @property
    def qacc_ratio(self) -> Array:
        """Largest |qacc| of each joint as a share of its limit, (nq,)."""
        self._flush()
        return self._qacc_ratio

    @property
    def exceeded(self) -> bool:
        return bool(self.qvel_ratio.max() > 1.0 or self.qacc_ratio.max() > 1.0)

    def __str__(self) -> str:
        return f"largest velocity {self.qvel_ratio.max():.0%}, acceleration {self.qacc_ratio.max():.0%} of the limit"

    def _flush(self) -> None:
        qvel = self._qvel[: self._filled]
        lag = self._window
        if len(qvel) > 1:
            self._qvel_ratio = np.maximum(self._qvel_ratio, np.abs(qvel).max(axis=0) / self._limits.qvel_max)
        if len(qvel) > lag:
            change = np.abs(qvel[lag:] - qvel[:-lag]).max(axis=0)
            self._qacc_ratio = np.maximum(self._qacc_ratio, change / (lag * self._dt * self._limits.qacc_max))
        self._filled = min(lag, len(qvel))
        self._qvel[: self._filled] = qvel[len(qvel) - self._filled :].copy()
