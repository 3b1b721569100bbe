"""Timed motion of a mobile base along straight pieces: fast where the way is straight, slow where it bends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.rooms.base import base_pose
from llm_planner.skills.motion import PATH_DT
from llm_planner.world.places import Point2
from llm_planner.world.scene import Pose

Array = NDArray[np.float64]
SPACING = 0.05  # [m] between the points at which a speed is found


@dataclass(frozen=True)
class DriveLimits:
    """Of the motion that is asked for; the base itself can do more."""

    speed: float = 1.2  # [m/s]
    acceleration: float = 1.2  # [m/s^2]
    bend: float = 0.35  # [m/s] of change of velocity at a corner, which the base rounds off


def timed_drive(points: Sequence[Point2], yaw: float, limits: DriveLimits, begin: float = 0.0) -> tuple[Pose, ...]:
    """T_map_base every `PATH_DT` s along the corners `points`, from the speed `begin` [m/s] to rest, facing where it
    goes.

    `yaw` [rad] is kept where the way has no length.
    """
    pieces = [(a, b) for a, b in pairwise(points) if dist(a, b) > 1e-3]
    if not pieces:
        return (base_pose(*points[-1], yaw),)
    counts = [max(2, math.ceil(dist(a, b) / SPACING)) for a, b in pieces]
    along = [np.linspace(a, b, count, endpoint=False) for (a, b), count in zip(pieces, counts, strict=True)]
    places: Array = np.concatenate([*along, [pieces[-1][1]]])
    headings = np.repeat([math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pieces], counts)
    speeds = np.full(len(places), limits.speed)
    corners = np.cumsum(counts)[:-1]
    speeds[corners] = [_corner_speed(a, b, limits) for a, b in pairwise(headings[[0, *corners]].tolist())]
    gaps: Array = np.linalg.norm(np.diff(places, axis=0), axis=1)
    speeds = _accelerating(speeds, gaps, limits.acceleration, begin)
    times = np.concatenate([[0.0], np.cumsum(2 * gaps / (speeds[1:] + speeds[:-1]))])
    wanted = np.minimum(PATH_DT * np.arange(1, math.ceil(times[-1] / PATH_DT) + 1), times[-1])
    passed = _passed(wanted, times, speeds, gaps)
    arc = np.concatenate([[0.0], np.cumsum(gaps)])
    x, y = np.interp(passed, arc, places[:, 0]), np.interp(passed, arc, places[:, 1])
    facing = headings[np.minimum(np.searchsorted(times, wanted, side="right") - 1, len(headings) - 1)]
    return tuple(base_pose(*row) for row in np.stack([x, y, facing], axis=1).tolist())


def _passed(wanted: Array, times: Array, speeds: Array, gaps: Array) -> Array:
    """How far the base has come at the times `wanted` [m]; between two points it accelerates evenly."""
    k = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(gaps) - 1)
    tau = wanted - times[k]
    acceleration = (speeds[k + 1] - speeds[k]) / (times[k + 1] - times[k])
    arc = np.concatenate([[0.0], np.cumsum(gaps)])
    passed: Array = arc[k] + tau * (speeds[k] + acceleration * tau / 2)
    return passed


def _corner_speed(before: float, after: float, limits: DriveLimits) -> float:
    """How fast a corner between two headings [rad] may be taken [m/s]."""
    bend = 2 * abs(math.sin(math.remainder(after - before, math.tau) / 2))
    return min(limits.speed, limits.bend / max(bend, 1e-6))


def _accelerating(speeds: Array, gaps: Array, acceleration: float, begin: float) -> Array:
    """The speeds, lowered until those of neighbours can be reached from each other, the first at most `begin` [m/s]."""
    squares = (speeds**2).tolist()
    steps = (2 * acceleration * gaps).tolist()
    squares[0], squares[-1] = min(squares[0], begin**2), 0.0
    for k, step in enumerate(steps):
        squares[k + 1] = min(squares[k + 1], squares[k] + step)
    for k in range(len(steps) - 1, -1, -1):
        squares[k] = min(squares[k], squares[k + 1] + steps[k])
    lowered: Array = np.sqrt(squares)
    return lowered
