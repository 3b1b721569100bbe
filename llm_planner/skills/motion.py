"""Smooth paths of the hand: straight legs with minimum-jerk timing that flow into each other.

A leg of length d moves by d * s(tau) with s(tau) = 10 tau^3 - 15 tau^4 + 6 tau^5 (Flash and Hogan, 1985), whose peak
speed is 1.875 d / T and peak acceleration 5.774 d / T^2. Consecutive legs overlap in time and their displacements add,
so the hand rounds corners instead of stopping at them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from llm_planner.control.reference import Array
from llm_planner.skills.gripper_shape import Grip
from llm_planner.world.scene import Pose

PATH_DT = 0.05  # [s] between the poses of a path: one stage of the controller
_PEAK_SPEED, _PEAK_ACCELERATION = 1.875, 5.774


@dataclass(frozen=True)
class MotionLimits:
    """How fast the hand moves: `speed` [m/s], `acceleration` [m/s^2], the same for its yaw [rad/s], [rad/s^2]."""

    speed: float = 0.6
    acceleration: float = 2.5
    yaw_speed: float = 1.6
    yaw_acceleration: float = 6.0
    overlap: float = 0.3  # share of the shorter of two legs during which both move

    def slowed(self, scale: float) -> MotionLimits:
        """The same paths taken `scale` in (0, 1] times as fast."""
        return MotionLimits(
            self.speed * scale, self.acceleration * scale**2, self.yaw_speed * scale,
            self.yaw_acceleration * scale**2, self.overlap,
        )  # fmt: skip


@dataclass(frozen=True)
class Leg:
    """A straight move to `to`; `speed` scales the limits of this leg, in (0, 1]."""

    to: Grip
    speed: float = 1.0


def plan_path(start: Grip, legs: Sequence[Leg], limits: MotionLimits) -> tuple[Pose, ...]:
    """Poses every `PATH_DT` s from `start` along `legs`, beginning and ending at rest."""
    points = np.array([_vector(start), *(_vector(leg.to) for leg in legs)])
    deltas = np.diff(points, axis=0)
    durations = [_duration(delta, leg.speed, limits) for delta, leg in zip(deltas, legs, strict=True)]
    starts = [0.0]
    for before, after in pairwise(durations):
        starts.append(starts[-1] + before - limits.overlap * min(before, after))
    end = max(begin + duration for begin, duration in zip(starts, durations, strict=True))
    times = PATH_DT * np.arange(1, math.ceil(end / PATH_DT - 1e-9) + 1)
    path = np.tile(points[0], (len(times), 1))
    for delta, begin, duration in zip(deltas, starts, durations, strict=True):
        tau = np.clip((times - begin) / duration, 0.0, 1.0)
        path += (tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2))[:, None] * delta
    return tuple(Grip(*row).pose() for row in path.tolist())


def _vector(grip: Grip) -> tuple[float, float, float, float]:
    return grip.x, grip.y, grip.z, grip.yaw


def _duration(delta: Array, scale: float, limits: MotionLimits) -> float:
    length, turn = float(np.linalg.norm(delta[:3])), abs(float(delta[3]))
    return max(
        PATH_DT,
        _PEAK_SPEED * length / (limits.speed * scale),
        math.sqrt(_PEAK_ACCELERATION * length / limits.acceleration) / scale,
        _PEAK_SPEED * turn / (limits.yaw_speed * scale),
        math.sqrt(_PEAK_ACCELERATION * turn / limits.yaw_acceleration) / scale,
    )
