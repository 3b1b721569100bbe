"""Linear constraints that keep a plan out of zones and its gripper point below a speed limit.

The keep-out rows linearise signed distances around an earlier plan. A link at distance d from a zone, with the gradient
g of the distance by the joints, keeps at stage k

    d_k + g_k (q_k - qbar_k) >= clearance + margin + lag * speed_k - slack_k

`margin` covers errors of the linearisation and of the drives. A convex zone lies behind the plane through its nearest
point, so the linearisation is conservative except for rotations. `lag` covers motion between two stages and lagging
drives, where a fast link comes closer.

The speed rows bound the velocity by a box inside the ball of the limit. A cube with its corners on that ball would
allow only limit / sqrt(3) along an axis. The box is therefore aligned with the planned velocity, and becomes longer and
thinner as that approaches the limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.robots.robot_model import Indices, Postures, RobotModel

STICKY = 0.03  # [m] by which a new pair must be nearer to replace one


@dataclass(frozen=True)
class KeepOutSettings:
    """Settings of the keep-out rows: `margin` [m] and `lag` [s] as above, and the activation distance `heed` [m]."""

    margin: float = 0.004
    lag: float = 0.03
    heed: float = 0.1
    pairs: int = 8  # largest number of pairs of a link and a zone, which sets the program's size

    def __post_init__(self) -> None:
        if min(self.margin, self.lag, self.heed) < 0 or self.pairs < 1:
            raise InputError(f"margin, lag and heed must not be negative, and pairs at least 1: {self}")


@dataclass(frozen=True)
class KeepOutRows:
    """Rows `gradient` (K, P, nq) @ q_k >= `least` (K, P), with the indices of their `zones` (P,).

    `spare` (K, P) [m] is the part of `least` beyond the bare clearance.
    """

    gradient: Array
    least: Array
    spare: Array
    zones: tuple[int, ...]


def select(robot: RobotModel, settings: KeepOutSettings, before: Indices, *plans: Postures) -> Indices:
    """Select the nearest pairs of a solid and a zone within the activation distance.

    The pairs of the last tick, `before`, keep their places unless another one is clearly nearer, so that the solver can
    warm-start from its last active set.

    Returns:
        Geom id and zone index of each pair that comes near in one of `plans`, (P, 2).
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
    """Build the rows for `pairs` (P, 2), linearised at `postures` with joint velocities `qvel` (K, nq) [rad/s]."""
    near = robot.nearness(postures, pairs)
    velocity = np.einsum("kj,kpji->kpi", qvel, near.jacobian)
    speed = np.sqrt(np.einsum("kpi,kpi->kp", velocity, velocity))
    spare = settings.margin + settings.lag * speed
    clearance = np.array([robot.zones[zone].clearance for zone in pairs[:, 1]])
    least = clearance + spare - near.distance + np.einsum("kpj,kj->kp", near.gradient, postures.qpos)
    return KeepOutRows(near.gradient, least, spare, tuple(pairs[:, 1].tolist()))


LONGEST = 0.97  # largest half length of the box along the velocity, over the limit; its half widths are then 0.17
_CUBE = 3.0**-0.5


@dataclass(frozen=True)
class SpeedRows:
    """Rows |`gradient` (K, 3, nq) @ qvel_k| <= `most` (K, 3), in [m/s]."""

    gradient: Array
    most: Array


def speed_rows(jacobian: Array, velocity: Array, wish: Array, limit: float) -> SpeedRows:
    """Build the rows of the speed `limit` [m/s] from the gripper point's Jacobian (K, nq, 3) at K stages.

    The box aligns with `velocity` (K, 3), that of the previous plan, or where this is small with `wish` (K, 3), the
    velocity without the limit.
    """
    speed = np.sqrt(np.einsum("ki,ki->k", velocity, velocity))
    share = np.minimum(speed / limit, 1.0)
    along = np.where((share > 0.2)[:, None], velocity, wish)
    axes = _frames(along)
    length = _CUBE + (LONGEST - _CUBE) * share
    width = np.sqrt(0.5 * (1.0 - length * length))
    return SpeedRows(np.einsum("kfi,kji->kfj", axes, jacobian), limit * np.stack([length, width, width], axis=1))


def _frames(along: Array) -> Array:
    """Return orthonormal frames (K, 3, 3) whose first rows point along `along` (K, 3), which may be zero."""
    norm = np.sqrt(np.einsum("ki,ki->k", along, along))
    first = np.where((norm > 1e-9)[:, None], along / np.maximum(norm, 1e-9)[:, None], (1.0, 0.0, 0.0))
    helper = np.where((np.abs(first[:, 2]) < 0.9)[:, None], (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    second = _cross(first, helper)
    second /= np.sqrt(np.einsum("ki,ki->k", second, second))[:, None]
    return np.stack([first, second, _cross(first, second)], axis=1)


def _cross(a: Array, b: Array) -> Array:
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]
