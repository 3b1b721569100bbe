"""Smooth hand paths: minimum-jerk legs that blend into each other.

Legs are straight in cylindrical coordinates about the first joint axis: radius, azimuth, height, yaw relative to
the azimuth, and tilt. Separate joints drive each coordinate, so a leg that swings past the base does not fold and
unfold the elbow as a straight line would. Straight lines in space are available as an option.

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
from numpy.typing import NDArray

from llm_planner.scene.scene import Pose
from llm_planner.skills.hand_geometry import HandPose

Array = NDArray[np.float64]

PATH_DT = 0.05  # [s] between the poses of a path: one controller stage
# An arm with the hand down: height of the shoulder, and of the wrist centre above and behind the grip point [m].
_SHOULDER, _WRIST_ABOVE, _WRIST_BEHIND = 0.333, 0.210, 0.088
_FULL_SPEED_REACH = 0.4  # [m] from shoulder to wrist; closer in, the same hand speed needs faster joints
_PEAK_SPEED, _PEAK_ACCELERATION = 1.875, 5.774


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the hand's motion in cylindrical coordinates.

    `speed` [m/s] and `acceleration` [m/s^2] apply to radius and height, `turn_speed` [rad/s] and `turn_acceleration`
    [rad/s^2] to azimuth and yaw, `in_space` [m/s] to the speed of the hand as a whole.
    """

    speed: float = 0.5
    acceleration: float = 1.6
    turn_speed: float = 1.4
    turn_acceleration: float = 5.0
    overlap: float = 0.3  # share of the shorter of two consecutive legs during which both move
    in_space: float = math.inf


@dataclass(frozen=True)
class Leg:
    """Move to `to`; `speed` in (0, 1] scales its limits, `blend` in [0, 1] its overlap with the previous leg."""

    to: HandPose
    speed: float = 1.0
    blend: float = 1.0


def plan_path(start: HandPose, legs: Sequence[Leg], limits: MotionLimits, straight: bool = False) -> tuple[Pose, ...]:
    """Plan a path along `legs` that begins and ends at rest: T_base_gripper every `PATH_DT` s, without the start.

    With `straight`, legs are interpolated as straight lines in space instead of in cylindrical coordinates. Raises
    ValueError if a leg leads to a pose that is not finite.
    """
    for leg in legs:
        if not all(map(math.isfinite, (leg.to.x, leg.to.y, leg.to.z, leg.to.yaw, leg.to.tilt))):
            raise ValueError(f"a leg leads to {leg.to}, which is not finite")
    grips = [start, *(leg.to for leg in legs)]
    points = np.array([(g.x, g.y, g.z, g.yaw, g.tilt) if straight else _cylindrical(g) for g in grips])
    deltas = np.diff(points, axis=0)
    nearness = [min(_stretch(a), _stretch(b)) for a, b in pairwise(grips)]
    durations = [
        max(_duration(delta, leg.speed, near, limits, straight), _PEAK_SPEED * metres / limits.in_space)
        for delta, leg, near, metres in zip(deltas.tolist(), legs, nearness, _lengths(points, straight), strict=True)
    ]
    starts = [0.0]
    for (before, after), leg in zip(pairwise(durations), legs[1:], strict=True):
        starts.append(starts[-1] + before - leg.blend * limits.overlap * min(before, after))
    end = max(begin + duration for begin, duration in zip(starts, durations, strict=True))
    times = PATH_DT * np.arange(1, math.ceil(end / PATH_DT - 1e-9) + 1)
    path = np.tile(points[0], (len(times), 1))
    for delta, begin, duration in zip(deltas, starts, durations, strict=True):
        tau = np.clip((times - begin) / duration, 0.0, 1.0)
        path += (tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2))[:, None] * delta
    if not straight:
        radius, azimuth = path[:, 0].copy(), path[:, 1].copy()
        path[:, 0], path[:, 1] = radius * np.cos(azimuth), radius * np.sin(azimuth)
        path[:, 3] += azimuth
    poses = [HandPose(*row).pose() for row in path.tolist()]
    return (*poses[:-1], legs[-1].to.pose())


def _cylindrical(grip: HandPose) -> tuple[float, ...]:
    """Return radius [m], azimuth [rad], height [m], yaw relative to the azimuth [rad] and tilt [rad]."""
    azimuth = math.atan2(grip.y, grip.x)
    return math.hypot(grip.x, grip.y), azimuth, grip.z, grip.yaw - azimuth, grip.tilt


def _stretch(grip: HandPose) -> float:
    """Return the share of full speed, in (0, 1], that keeps joint speeds as low as with the arm stretched."""
    radius = math.hypot(grip.x, grip.y) - _WRIST_BEHIND
    return min(1.0, math.hypot(radius, grip.z + _WRIST_ABOVE - _SHOULDER) / _FULL_SPEED_REACH)


def _duration(delta: Sequence[float], speed: float, nearness: float, limits: MotionLimits, straight: bool) -> float:
    if straight:
        length, turn = math.hypot(delta[0], delta[1], delta[2]), max(map(abs, delta[3:]))
    else:
        length, turn = math.hypot(delta[0], delta[2]), max(map(abs, (delta[1], *delta[3:])))
    return max(
        PATH_DT,
        _least_time(length, limits.speed * nearness, limits.acceleration * nearness) / speed,
        _least_time(turn, limits.turn_speed, limits.turn_acceleration) / speed,
    )


def _lengths(points: Array, straight: bool) -> list[float]:
    """Return the length of each leg in space [m]; for a swing an upper bound, by the larger of its radii."""
    along = np.diff(points[:, :3], axis=0)
    if not straight:
        along[:, 1] *= np.maximum(points[1:, 0], points[:-1, 0])
    lengths: list[float] = np.linalg.norm(along, axis=1).tolist()
    return lengths


def _least_time(distance: float, speed: float, acceleration: float) -> float:
    """Return the duration [s] of a minimum-jerk move whose peaks stay within both limits."""
    return max(_PEAK_SPEED * distance / speed, math.sqrt(_PEAK_ACCELERATION * distance / acceleration))
