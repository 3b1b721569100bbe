"""Rows that keep a plan out of zones: signed distances, linearised around an earlier plan.

A link at distance d from a zone, whose distance changes with the joints by the gradient g, keeps at stage k

    d_k + g_k (q_k - qbar_k) >= clearance + margin + lag * speed_k - slack_k

`margin` is room for what the linearisation and the drives get wrong. A convex zone lies behind the plane through its
nearest point, so the linearisation errs to the safe side but for rotations; between two stages, and behind a drive that
lags, a link comes closer the faster it moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array
from llm_planner.control.robot_model import Indices, Postures, RobotModel
from llm_planner.errors import InputError


@dataclass(frozen=True)
class KeepOutSettings:
    """`margin` [m] and `lag` [s] as above; zones are looked at once the robot or its wish comes `heed` [m] near."""

    margin: float = 0.015
    lag: float = 0.01
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


def select(robot: RobotModel, settings: KeepOutSettings, *plans: Postures) -> Indices:
    """The pairs (P, 2) of a solid and a zone that come near in one of `plans`; few, the nearest, in a stable order."""
    nearest = np.min([robot.at_least(postures).min(axis=0) for postures in plans], axis=0)
    nearest = nearest - [zone.clearance + settings.margin for zone in robot.zones]
    pairs = np.argwhere(nearest < settings.heed)
    if len(pairs) > settings.pairs:
        order = np.argsort(nearest[pairs[:, 0], pairs[:, 1]])[: settings.pairs]
        pairs = pairs[np.sort(order)]
    return pairs


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
