"""Rows that keep a plan out of zones: signed distances, linearised around an earlier plan.

A link at distance d from a zone, whose distance changes with the joints by the gradient g, keeps at stage k

    d_k + g_k (q_k - qbar_k) >= clearance + margin + lag * speed_k - slack_k

`margin` is room for what the linearisation and the drives get wrong. A convex zone lies behind the plane through its
nearest point, so the linearisation errs to the safe side but for rotations; between two stages, and behind a drive that
lags, a link comes closer the faster it moves.

Rows that keep the Euclidean speed of the gripper point: a box around its velocity, inside the ball of the limit.

An axis-aligned box of half width v lets the speed be sqrt(3) v. Here the box is turned along the velocity that was
planned so far and is the longer and the thinner the nearer that is to the limit; its corners lie on the ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.robots.robot_model import Indices, Postures, RobotModel

STICKY = 0.03  # [m] by which another pair must be nearer to take a place


@dataclass(frozen=True)
class KeepOutSettings:
    """`margin` [m] and `lag` [s] as above; zones are looked at once the robot or its wish comes `heed` [m] near."""

    margin: float = 0.004
    lag: float = 0.03
    heed: float = 0.1
    pairs: int = 8  # of a link and a zone, the nearest; the program grows with them

    def __post_init__(self) -> None:
        if min(self.margin, self.lag, self.heed) < 0 or self.pairs < 1:
            raise InputError(f"margin, lag and heed must not be negative, and pairs at least 1: {self}")


@dataclass(frozen=True)
class KeepOutRows:
    """`gradient` (K, P, nq) @ q_k >= `least` (K, P), for `zones` (P,), numbers of the constraints' zones.

    `spare` (K, P) [m] is the part of `least` beyond the bare clearance.
    """

    gradient: Array
    least: Array
    spare: Array
    zones: tuple[int, ...]


def select(robot: RobotModel, settings: KeepOutSettings, before: Indices, *plans: Postures) -> Indices:
    """The pairs (P, 2) of a solid and a zone that come near in one of `plans`, at most so many, the nearest.

    Those of the last tick, `before`, keep their places and are not given up for ones that are hardly nearer: a solver
    that starts from its last answer finds its rows again.
    """
    nearest = np.min([robot.at_least(postures).min(axis=0) for postures in plans], axis=0)
    nearest -= [zone.clearance + settings.margin for zone in robot.zones]
    kept = before[(before[:, 1] < len(robot.zones))]
    rank = nearest.copy()
    rank[kept[:, 0], kept[:, 1]] -= STICKY
    near = np.argwhere(nearest < settings.heed)
    chosen = near[np.argsort(rank[near[:, 0], near[:, 1]], kind="stable")[: settings.pairs]]
    wanted = {(int(solid), int(zone)) for solid, zone in chosen}
    places = [pair if pair in wanted else None for pair in map(tuple, kept.tolist())][: len(wanted)]
    fresh = iter(sorted(wanted.difference(places)))
    places += [None] * (len(wanted) - len(places))
    return np.array([place or next(fresh) for place in places], dtype=np.int64).reshape(-1, 2)


def keep_out_rows(
    robot: RobotModel, settings: KeepOutSettings, postures: Postures, qvel: Array, pairs: Indices
) -> KeepOutRows:
    """Rows for `pairs`, linearised at `postures`, where the joints move at `qvel` (K, nq)."""
    near = robot.nearness(postures, pairs)
    velocity = np.einsum("kj,kpji->kpi", qvel, near.jacobian)
    speed = np.sqrt(np.einsum("kpi,kpi->kp", velocity, velocity))
    spare = settings.margin + settings.lag * speed
    clearance = np.array([robot.zones[zone].clearance for zone in pairs[:, 1]])
    least = clearance + spare - near.distance + np.einsum("kpj,kj->kp", near.gradient, postures.qpos)
    return KeepOutRows(near.gradient, least, spare, tuple(pairs[:, 1].tolist()))


def zones_of(constraints: MotionConstraints, rows: KeepOutRows, active: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names of the zones that have an `active` (K, P) row, each once."""
    touched = [rows.zones[pair] for pair in np.flatnonzero(active.any(axis=0))]
    return tuple(dict.fromkeys(constraints.zones[zone].name for zone in touched))


LONGEST = 0.97  # half length of the box along the velocity, by the limit; its half widths are then 0.17
_CUBE = 3.0**-0.5


@dataclass(frozen=True)
class SpeedRows:
    """|`gradient` (K, 3, nq) @ qvel_k| <= `most` (K, 3), in m/s."""

    gradient: Array
    most: Array


def speed_rows(jacobian: Array, velocity: Array, wish: Array, limit: float) -> SpeedRows:
    """Rows for the Jacobian (K, nq, 3) of the point at stages where it moves at `velocity` (K, 3), so far planned.

    Where it hardly moves the box turns along `wish` (K, 3), the velocity without the limit.
    """
    speed = np.sqrt(np.einsum("ki,ki->k", velocity, velocity))
    share = np.minimum(speed / limit, 1.0)
    along = np.where((share > 0.2)[:, None], velocity, wish)
    axes = _frames(along)
    length = _CUBE + (LONGEST - _CUBE) * share
    width = np.sqrt(0.5 * (1.0 - length * length))
    return SpeedRows(np.einsum("kfi,kji->kfj", axes, jacobian), limit * np.stack([length, width, width], axis=1))


def _frames(along: Array) -> Array:
    """(K, 3, 3): rows are unit vectors, the first along `along` (K, 3), which may be zero."""
    norm = np.sqrt(np.einsum("ki,ki->k", along, along))
    first = np.where((norm > 1e-9)[:, None], along / np.maximum(norm, 1e-9)[:, None], (1.0, 0.0, 0.0))
    helper = np.where((np.abs(first[:, 2]) < 0.9)[:, None], (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    second = _cross(first, helper)
    second /= np.sqrt(np.einsum("ki,ki->k", second, second))[:, None]
    return np.stack([first, second, _cross(first, second)], axis=1)


def _cross(a: Array, b: Array) -> Array:
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]
