"""Watches that the simulated joints stay inside the robot's limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.panda import RobotLimits

Array = NDArray[np.float64]
ROOM = 1024  # physics steps looked at together, so that watching costs next to nothing


class LimitWatch:
    """The largest |qvel| / limit and |qacc| / limit met so far, over every physics step.

    The acceleration of a step is the change of the joint velocity over it, divided by its length `dt` [s].
    """

    def __init__(self, limits: RobotLimits, dt: float) -> None:
        nq = len(limits.qvel_max)
        self._limits, self._dt = limits, dt
        self._qvel = np.zeros((ROOM, nq))
        self._filled = 1  # the first row is the velocity before the first step
        self._qvel_ratio, self._qacc_ratio = np.zeros(nq), np.zeros(nq)

    def restart(self, qvel: Array) -> None:
        """The joints now move at `qvel` (nq,) [rad/s] without having accelerated to it: a reset, not a motion."""
        self._flush()
        self._qvel[0] = qvel

    def rows(self, steps: int) -> Array:
        """Where to write the joint velocities (steps, nq) [rad/s] after each of the coming physics steps."""
        if self._filled + steps > len(self._qvel):
            self._flush()
            if 1 + steps > len(self._qvel):
                self._qvel = np.vstack([self._qvel[:1], np.zeros((steps, self._qvel.shape[1]))])
        start = self._filled
        self._filled += steps
        return self._qvel[start : self._filled]

    @property
    def qvel_ratio(self) -> Array:
        """Largest |qvel| of each joint (nq,), as a share of its limit."""
        self._flush()
        return self._qvel_ratio

    @property
    def qacc_ratio(self) -> Array:
        """Largest |qacc| of each joint (nq,), as a share of its limit."""
        self._flush()
        return self._qacc_ratio

    @property
    def exceeded(self) -> bool:
        return bool(self.qvel_ratio.max() > 1.0 or self.qacc_ratio.max() > 1.0)

    def __str__(self) -> str:
        return f"largest velocity {self.qvel_ratio.max():.0%}, acceleration {self.qacc_ratio.max():.0%} of the limit"

    def _flush(self) -> None:
        qvel = self._qvel[: self._filled]
        if len(qvel) > 1:
            speed = np.abs(qvel).max(axis=0) / self._limits.qvel_max
            acceleration = np.abs(np.diff(qvel, axis=0)).max(axis=0) / (self._dt * self._limits.qacc_max)
            self._qvel_ratio = np.maximum(self._qvel_ratio, speed)
            self._qacc_ratio = np.maximum(self._qacc_ratio, acceleration)
        self._qvel[0] = self._qvel[self._filled - 1]
        self._filled = 1
