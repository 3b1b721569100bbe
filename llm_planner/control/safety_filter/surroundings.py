"""A body among zones, and what of the two is near enough to each other to matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llm_planner.control.reference import Array
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.distances import ZoneSet
from llm_planner.control.zones import Zone


@dataclass(frozen=True)
class Surroundings:
    """`zones` are told of the points of `body`, in their order."""

    body: Body
    zones: ZoneSet

    def near(self, qpos: Array, way: Array) -> Surroundings:
        """What can meet when the points move by `way` (S,) [m] from joint positions (nq,) on; and point 0."""
        close = self.zones.clearances(self.body.place(qpos[None]).points).values[:, 0] < way
        zone, point = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        point = np.union1d(0, point)
        return Surroundings(self.body.part(point), self.zones.part(zone, point))


def surroundings(body: Body, zones: Sequence[Zone]) -> Surroundings:
    """All of `body` and all `zones`."""
    return Surroundings(body, ZoneSet(zones, body.radii))
