"""Ways around what stands in a room: from one point to another, past round obstacles, inside the walls."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, dist, hypot, pi, sin

from llm_planner.world.places import Point2, Rectangle

CORNERS = 10  # around each obstacle, where a way may bend
_MARGIN = 0.02  # [m] the corners lie outside the obstacles' rims


@dataclass(frozen=True)
class Disc:
    """Where the robot's middle may not be: around `center`, nearer than `radius` [m]."""

    center: Point2
    radius: float

    def blocks(self, a: Point2, b: Point2) -> bool:
        """Whether the straight way from `a` to `b` goes through it."""
        dx, dy = b[0] - a[0], b[1] - a[1]
        square = dx * dx + dy * dy
        share = ((self.center[0] - a[0]) * dx + (self.center[1] - a[1]) * dy) / square if square else 0.0
        share = min(max(share, 0.0), 1.0)
        return hypot(a[0] + share * dx - self.center[0], a[1] + share * dy - self.center[1]) < self.radius

    def corners(self) -> list[Point2]:
        radius = (self.radius + _MARGIN) / cos(pi / CORNERS)
        angles = [2 * pi * k / CORNERS for k in range(CORNERS)]
        return [(self.center[0] + radius * cos(a), self.center[1] + radius * sin(a)) for a in angles]


def way_around(start: Point2, goal: Point2, discs: Sequence[Disc], area: Rectangle) -> tuple[Point2, ...]:
    """The shortest way inside `area` from `start` to `goal`, without the start; straight where nothing else is left.

    Around a start or a goal that is too close to an obstacle, it may be passed as closely as that, but no closer.
    """
    solid = [replace(disc, radius=min(disc.radius, _closest(disc, start, goal))) for disc in discs]
    if not any(disc.blocks(start, goal) for disc in solid):
        return (goal,)
    corners = [corner for disc in solid for corner in disc.corners() if area.contains(*corner)]
    frontier: list[tuple[float, tuple[Point2, ...]]] = [(0.0, (start,))]
    reached: set[Point2] = set()
    while frontier:
        length, points = heapq.heappop(frontier)
        here = points[-1]
        if here == goal:
            return points[1:]
        if here in reached:
            continue
        reached.add(here)
        for corner in (goal, *corners):
            if corner not in reached and not any(disc.blocks(here, corner) for disc in solid):
                heapq.heappush(frontier, (length + dist(here, corner), (*points, corner)))
    return (goal,)


def _closest(disc: Disc, start: Point2, goal: Point2) -> float:
    """How near to the obstacle's middle the way must come, for it begins or ends there [m]."""
    return max(0.0, min(dist(disc.center, start), dist(disc.center, goal)) - _MARGIN)
