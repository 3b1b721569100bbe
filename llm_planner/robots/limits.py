"""Joint limits, and the share of them that the controller uses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array


@dataclass(frozen=True)
class RobotLimits:
    """Limits of the joints, each (nq,), in [rad], [rad/s], [rad/s^2] and [Nm]."""

    qpos_min: Array
    qpos_max: Array
    qvel_max: Array
    qacc_max: Array
    torque_max: Array


@dataclass(frozen=True)
class JointLimits:
    """Position, velocity and acceleration bounds of each joint, all of shape (nq,).

    `lower` and `upper` are in [rad], `velocity` in [rad/s], `acceleration` in [rad/s^2]. The last two hold in both
    directions.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        sizes = {np.shape(bound) for bound in (self.lower, self.upper, self.velocity, self.acceleration)}
        if len(sizes) != 1 or len(next(iter(sizes))) != 1:
            raise InputError(f"joint limits need one number per joint in each of the four bounds, not shapes {sizes}")
        if not (np.all(self.lower < self.upper) and np.all(self.velocity > 0) and np.all(self.acceleration > 0)):
            raise InputError("joint limits need lower < upper, velocity > 0 and acceleration > 0 for every joint")

    @property
    def nq(self) -> int:
        return len(self.lower)

    def slower(self, speed_scale: float) -> JointLimits:
        """Scale the velocity limits by `speed_scale` in (0, 1]; the accelerations stay, so that the arm can stop."""
        return self if speed_scale == 1.0 else replace(self, velocity=speed_scale * self.velocity)


@dataclass(frozen=True)
class LimitShare:
    """Fraction of the robot's limits to use; the rest is reserved for tracking errors and for braking harder."""

    velocity: float = 0.75
    acceleration: float = 0.6
    braking: float = 0.85  # of the acceleration limit, for stops without a reference
    position_margin: float = 0.02  # [rad] kept from both ends of each joint's range

    def __post_init__(self) -> None:
        for name in ("velocity", "acceleration", "braking"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InputError(f"the share of the {name} limit must lie in (0, 1], not {value}")
        if self.position_margin < 0:
            raise InputError(f"position_margin must not be negative, not {self.position_margin}")

    def tracking(self, robot: RobotLimits) -> JointLimits:
        """Return the limits that plans keep."""
        return self._of(robot, self.acceleration)

    def stopping(self, robot: RobotLimits) -> JointLimits:
        """Return the limits for braking to rest."""
        return self._of(robot, self.braking)

    def _of(self, robot: RobotLimits, acceleration: float) -> JointLimits:
        return JointLimits(
            lower=robot.qpos_min + self.position_margin,
            upper=robot.qpos_max - self.position_margin,
            velocity=self.velocity * robot.qvel_max,
            acceleration=acceleration * robot.qacc_max,
        )


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
