"""Watches that the simulated joints stay inside the robot's limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.panda import RobotLimits

Array = NDArray[np.float64]


class LimitWatch:
    """The largest |qvel| / limit and |qacc| / limit met so far, over every physics step.

    The acceleration of a step is the change of the joint velocity over it, divided by its length.
    """

    def __init__(self, limits: RobotLimits) -> None:
        self._limits = limits
        self.qvel_ratio = np.zeros_like(limits.qvel_max)  # (nq,)
        self.qacc_ratio = np.zeros_like(limits.qacc_max)  # (nq,)

    def update(self, qvel: Array, dt: float) -> None:
        """Takes the joint velocities (n+1, nq) [rad/s] before and after each of n steps of `dt` [s]."""
        speed = np.abs(qvel).max(axis=0) / self._limits.qvel_max
        acceleration = np.abs(qvel[1:] - qvel[:-1]).max(axis=0) / (dt * self._limits.qacc_max)
        np.maximum(self.qvel_ratio, speed, out=self.qvel_ratio)
        np.maximum(self.qacc_ratio, acceleration, out=self.qacc_ratio)

    @property
    def exceeded(self) -> bool:
        return bool(self.qvel_ratio.max() > 1.0 or self.qacc_ratio.max() > 1.0)

    def __str__(self) -> str:
        return f"largest velocity {self.qvel_ratio.max():.0%}, acceleration {self.qacc_ratio.max():.0%} of the limit"
