"""The rows of the program: what zones and speed limits ask of the next acceleration.

A row says: `slope` . u >= need, with u the change of the acceleration over its limits. `need` <= 0 where the
acceleration about which the row was linearised is good enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llm_planner.control.limits import JointLimits
from llm_planner.control.reference import Array
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.distances import ZoneSet
from llm_planner.control.safety_filter.stopping import Move, travel, travel_slope

MOST_ROWS = 15  # of zones


@dataclass(frozen=True)
class Rows:
    """Of one rank: whose they are, their slopes (m, nq) and what they need (m,)."""

    names: tuple[str, ...]
    slopes: Array
    needs: Array


@dataclass(frozen=True)
class Barrier:
    """How a clearance must not change in one tick; see `safety_filter`."""

    gamma: float  # of its value, how much one tick may use up
    margin: float  # [m] kept beyond it


def zone_rows(
    start: Move, qacc: Array, body: Body, zones: ZoneSet, limits: JointLimits, braking: Array, barrier: Barrier
) -> Rows:
    """The rows that can matter, linearised about the acceleration `qacc` (nq,)."""
    if not len(zones):
        return Rows((), np.zeros((0, len(qacc))), np.zeros(0))
    velocity = start.qvel + start.dt * qacc
    after = start.qpos + (0.5 * start.dt) * (start.qvel + velocity)
    way = travel(velocity, braking, start.dt)
    rest = start.qpos + travel(start.qvel, braking, start.dt)
    # At rest after the hold, half of the braking time before that; at rest without a hold, now.
    placed = body.place(np.array([after + way, after + 0.75 * way, rest, start.qpos]))
    clearances = zones.clearances(placed.points[:, :, zones.points])
    values = clearances.values
    room = values[:, :2] - _allowed(values[:, 2], values[:, 3], barrier)[:, None]
    direct, later = 0.5 * start.dt * start.dt, start.dt * travel_slope(velocity, braking, start.dt)
    moved = np.array([direct + later, direct + 0.75 * later]) * limits.acceleration  # of the two postures, by u = 1
    zone, posture, point = np.nonzero(room < 2.0 * (moved @ body.reach)[:, None])
    if len(zone) > MOST_ROWS:
        urgent = np.argpartition(room[zone, posture, point], MOST_ROWS)[:MOST_ROWS]
        zone, posture, point = zone[urgent], posture[urgent], point[urgent]
    normals = clearances.normals(zone, posture, point)
    slopes = placed.slopes(posture, zones.points[point], normals) * moved[posture]
    return Rows(tuple(zones.zones[index].name for index in zone.tolist()), slopes, -room[zone, posture, point])


def _allowed(rest: Array, now: Array, barrier: Barrier) -> Array:
    """How small the barriers may become, from the clearances at rest and now."""
    value = np.minimum(rest, now)
    kept = np.maximum((1.0 - barrier.gamma) * value, np.minimum(value, barrier.margin))
    allowed: Array = np.where(value >= 0.0, kept, np.minimum(now, 0.0))
    return allowed


def speed_rows(jacobian: Array, qvel: Array, speed: float, margin: float, reach: Array) -> Rows:
    """Point 0 stays below `speed` [m/s] after the hold: below `margin` of it ahead, next to nothing aside.

    `jacobian` (3, nq) and `qvel` (nq,) are those after the hold; `reach` (nq,) is how u = 1 changes the velocities.
    """
    velocity = jacobian @ qvel
    present, side = float(np.linalg.norm(velocity)), math.sqrt(0.5 * (1.0 - margin * margin)) * speed
    directions = _frame(*(velocity / max(present, 1e-9)).tolist())
    needs = np.array([present - margin * speed, -side, -side, -side, -side])
    return Rows(("speed",) * 5, directions @ jacobian * reach, needs)


def _frame(x: float, y: float, z: float) -> Array:
    """Against a unit vector, and to and fro along two others, all perpendicular (5, 3)."""
    sign = math.copysign(1.0, z)  # of Duff et al. 2017: no case is singular
    a = -1.0 / (sign + z)
    b = x * y * a
    one, two = (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)
    return np.array([(-x, -y, -z), one, tuple(-v for v in one), two, tuple(-v for v in two)])
