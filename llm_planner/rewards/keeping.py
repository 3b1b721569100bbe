"""What motions for a reward program keep besides: the zones that rules forbid, and the speed in force.

Zones bar a motion whatever it promises. A speed limit makes a motion slower and not shorter: what is pushed follows as
well, and a thing that is to be moved is still reached within the horizon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.zones import Zone
from llm_planner.rewards.pursuit import GAIN_LEAST
from llm_planner.rewards.sampling import Plan, SamplingSettings
from llm_planner.skills.arm import SLOWER
from llm_planner.skills.ways import kept
from llm_planner.skills.zone_distance import distances

Array = NDArray[np.float64]

ENTERED, DEEP = 10.0, 100.0  # costs of a motion that enters a zone, and of each metre that it is in there


@dataclass(frozen=True)
class KeepOut:
    """Zones, and how far the body's point stays from the solid of each [m]."""

    zones: tuple[Zone, ...] = ()
    gap: Callable[[Zone], float] = lambda zone: zone.clearance

    def trespass(self, points: Array) -> Array:
        """What each of the ways `points` (n, T, 3) [m] costs for each zone that it enters (n, zones)."""
        costs = np.zeros((len(points), len(self.zones)))
        for index, zone in enumerate(self.zones):
            depth = np.maximum(self.gap(zone) - distances(zone, points), 0.0)
            costs[:, index] = ENTERED * (depth > 0.0).any(axis=1) + DEEP * depth.mean(axis=1)
        return costs

    def told(self, entered: Sequence[int]) -> str:
        """Why motions into the zones of those numbers are not made, for a person; "" where there are none."""
        words = " and ".join(dict.fromkeys(kept(self.zones[index]) for index in entered))
        return words and f"what would bring it nearer leads where the robot has to keep {words}"


ANYWHERE = KeepOut()


@dataclass(frozen=True)
class Priced:
    """What n motions cost: `free` (n,) by the program and their own, `trespass` (n, zones) for the zones entered."""

    free: Array
    trespass: Array

    @property
    def costs(self) -> Array:
        """(n,)"""
        total: Array = self.free + self.trespass.sum(axis=1)
        return total

    def barred(self, stayed: float) -> tuple[int, ...]:
        """The zones that the best motion enters where none gains anything over `stayed` without entering one."""
        best = int(np.argmin(self.free))
        if float(self.costs.min()) < stayed - GAIN_LEAST or self.free[best] >= stayed - GAIN_LEAST:
            return ()
        return tuple(np.flatnonzero(self.trespass[best]).tolist())


class PlanClock:
    """The time of a plan [s], which passes more slowly than the robot's where a speed limit asks for that."""

    def __init__(self, now: float) -> None:
        self.pace = 1.0
        self._time = self._seen = now

    def tick(self, now: float) -> float:
        """The plan's time when the robot's is `now`."""
        self._time += self.pace * (now - self._seen)
        self._seen = now
        return self._time

    def keep(self, speed: float, limit: float) -> None:
        """From now on as slow as a plan whose largest speed is `speed` has to be to keep `limit` [m/s]."""
        self.pace = min(1.0, SLOWER * limit / max(speed, 1e-9))


def top_speed(plan: Plan, settings: SamplingSettings, axes: int) -> float:
    """The largest speed of a plan in its first `axes` controls [m/s], straight between its control points."""
    apart: Array = np.linalg.norm(np.diff(plan.mean[:, :axes], axis=0), axis=1)
    return float(apart.max()) * (settings.knots - 1) / settings.horizon
