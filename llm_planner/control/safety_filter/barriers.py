"""The rows of the program: what zones and speed limits ask of the next acceleration.

A row says: `slope` . u >= need, with u the change of the acceleration over its limits. `need` <= 0 where the
acceleration about which the row was linearised is good enough.

The filter's quadratic program: as little change as possible, acceleration limits hard, the rest by rank.

    minimise    |u|^2 + s_1^2 + s_2^2 + ...
    subject to  lower <= u <= upper,   row . u + s_r / sqrt(w_r) >= need   for each row of rank r,   s_r >= 0

in changes of acceleration u over their limits. Each rank shares one slack: the largest shortfall of its rows counts,
and w_1 >> w_2 >> 1 makes a rank give way only where those before it cannot be kept without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llm_planner.control.safety_filter.bodies import Placed
from llm_planner.control.safety_filter.distances import Clearances, Surroundings
from llm_planner.control.safety_filter.proof import Move, Proof, clearance_proof, sag, travel, travel_slope, way_to_rest
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array

MOST_ROWS = 15  # of zones


@dataclass(frozen=True)
class Rows:
    """Of one rank: whose they are, their slopes (m, nq) and what they need (m,)."""

    names: tuple[str, ...]
    slopes: Array
    needs: Array


@dataclass(frozen=True)
class Ahead:
    """A hold of one acceleration from `start` on and the braking after it.

    Postures are `placed`: 0 now, 1 after the hold, on to the one at `rest`; then where braking at once would end.
    `half` is one half of the braking time before `rest`. `clearances` are None where no zone is near. `between` (n,)
    [m] is how far points leave their chords from one to the next; `velocity` (nq,) is that after the hold.
    """

    start: Move
    velocity: Array
    placed: Placed
    clearances: Clearances | None
    between: Array

    @property
    def rest(self) -> int:
        return len(self.between)

    @property
    def half(self) -> int:
        return 1 + len(self.between) // 2

    def clearance(self) -> float:
        """A quick bound from below on all clearances on the way [m]."""
        if self.clearances is None:
            return math.inf
        values = self.clearances.values[:, : self.rest + 1].min(axis=0)
        chords = self.placed.points[:, 1 : self.rest + 1] - self.placed.points[:, : self.rest]
        lengths = np.sqrt((chords * chords).sum(axis=0))
        return float((0.5 * (values[1:] + values[:-1] - lengths) - self.between[:, None]).min())

    def proof(self) -> Proof:
        """Whether all clearances are kept on the way."""
        if self.clearances is None:
            return Proof()
        return clearance_proof(self.clearances, self.placed.points, self.between)


def look_ahead(start: Move, qacc: Array, around: Surroundings, braking: Array, samples: int) -> Ahead:
    """What holding `qacc` (nq,) and then braking comes to, the braking in `samples` pieces at most."""
    qpos, off = way_to_rest(start, qacc, braking, samples)
    between = sag(qpos, off, around.body)
    stopped = start.qpos + travel(start.qvel, braking, start.dt)
    placed = around.body.place(np.concatenate([qpos, stopped[None]]))
    clearances = around.zones.clearances(placed.points) if len(around.zones) else None
    return Ahead(start, start.qvel + start.dt * qacc, placed, clearances, between)


@dataclass(frozen=True)
class Barrier:
    """How a clearance must not change in one tick; see `safety_filter`."""

    gamma: float  # of its value, how much one tick may use up
    margin: float  # [m] beyond it at which the robot comes to glide along a zone


def zone_room(ahead: Ahead, barrier: Barrier) -> Array:
    """How much more than allowed is left of the clearances (Z, 2, S) [m], at rest and half way there."""
    if ahead.clearances is None:
        return np.zeros((0, 2, ahead.placed.points.shape[2]))
    values = ahead.clearances.values
    value = np.minimum(values[:, ahead.rest + 1], values[:, 0])  # where braking at once ends, and now
    kept = (1.0 - barrier.gamma) * value + barrier.gamma * barrier.margin
    allowed = np.where(value >= 0.0, kept, np.minimum(values[:, 0], 0.0))
    room: Array = values[:, [ahead.rest, ahead.half]] - allowed[:, None]
    return room


def zone_rows(ahead: Ahead, room: Array, reach: Array, limits: JointLimits, braking: Array) -> Rows:
    """The rows that can matter, linearised about the acceleration that `ahead` holds; `reach` (S, nq) is the body's."""
    clearances, dt = ahead.clearances, ahead.start.dt
    if clearances is None:
        return Rows((), np.zeros((0, limits.nq)), np.zeros(0))
    direct, later = 0.5 * dt * dt, dt * travel_slope(ahead.velocity, braking, dt)
    moved = np.array([direct + later, direct + 0.75 * later]) * limits.acceleration  # of the two postures, by u = 1
    zone, place, point = np.nonzero(room < 2.0 * (moved @ reach.T))
    if len(zone) > MOST_ROWS:
        urgent = np.argpartition(room[zone, place, point], MOST_ROWS)[:MOST_ROWS]
        zone, place, point = zone[urgent], place[urgent], point[urgent]
    posture = np.array([ahead.rest, ahead.half])[place]
    slopes = ahead.placed.slopes(posture, point, clearances.normals(zone, posture, point)) * moved[place]
    return Rows(tuple(clearances.zones.zones[index].name for index in zone.tolist()), slopes, -room[zone, place, point])


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


WEIGHTS = (1e8, 1e4)  # of the ranks: zones, speed
ROWS = MOST_ROWS + 5  # those of zones and of speed
FREE = 1e30  # DAQP's infinity
LEAST_NORM = 1e-7  # of a row; one that no acceleration can change asks for nothing


class FilterProgram:
    """A DAQP workspace for `nq` joints, set up once."""

    def __init__(self, nq: int) -> None:
        import daqp

        self._nq, n = nq, nq + len(WEIGHTS)
        self._rows = np.zeros((ROWS, n))
        self._lower, self._upper = np.full(n + ROWS, -FREE), np.full(n + ROWS, FREE)
        self._lower[nq:n] = 0.0
        self._gradient = np.zeros(n)
        self._model: Any = daqp.Model()
        sense = np.zeros(n + ROWS, dtype=np.int32)
        self._model.setup(np.eye(n), self._gradient, self._rows, self._upper, self._lower, sense)
        self._sense = sense

    def solve(self, lower: Array, upper: Array, ranks: Sequence[Rows]) -> tuple[Array, tuple[str, ...]] | None:
        """The least change u (nq,), `lower` <= 0 <= `upper`, and whose rows bind; None where DAQP gives up."""
        nq, n = self._nq, self._nq + len(WEIGHTS)
        self._rows[:] = 0.0
        self._lower[n:] = -FREE
        self._lower[:nq], self._upper[:nq] = lower, upper
        names: list[str] = []
        used = 0
        for rank, rows in enumerate(ranks):
            place = slice(used, used + len(rows.needs))
            norm = np.sqrt((rows.slopes * rows.slopes).sum(axis=1))
            scale = np.where(norm > LEAST_NORM, 1.0 / np.maximum(norm, LEAST_NORM), 0.0)
            self._rows[place, :nq] = rows.slopes * scale[:, None]
            self._rows[place, nq + rank] = WEIGHTS[rank] ** -0.5
            self._lower[n:][place] = rows.needs * scale
            used += len(rows.needs)
            names += rows.names
        self._model.update(f=self._gradient, A=self._rows, bupper=self._upper, blower=self._lower, sense=self._sense)
        x, _, flag, info = self._model.solve()
        if flag < 1 or not np.isfinite(x).all():
            return None
        binds = info["lam"][n : n + used] != 0.0
        return x[:nq], tuple(name for name, is_bound in zip(names, binds.tolist(), strict=True) if is_bound)
