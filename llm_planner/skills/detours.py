"""Ways around what stands in a room: from one point to another, past round obstacles, inside the walls."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, dist, hypot, pi, sin

from llm_planner.world.places import Point2, Rectangle

CORNERS = 10  # around each obstacle, where a way may bend
SHARES = (1.0, 0.87)  # of the room around obstacles, tried in turn
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
    """The shortest way inside `area` from `start` to `goal`, without the start; straight where there is none.

    Where there is no way with all the room that is wanted, obstacles are passed more closely. Around a start or a goal
    that is too close to an obstacle, it may be passed as closely as that.
    """
    for share in SHARES:
        solid = [replace(disc, radius=min(share * disc.radius, _closest(disc, start, goal))) for disc in discs]
        way = _shortest(start, goal, solid, area)
        if way:
            return way
    return (goal,)


def _shortest(start: Point2, goal: Point2, discs: Sequence[Disc], area: Rectangle) -> tuple[Point2, ...]:
    """Dijkstra's over the corners around the obstacles; empty where there is no way."""
    if not any(disc.blocks(start, goal) for disc in discs):
        return (goal,)
    corners = [nearest_in(area, corner) for disc in discs for corner in disc.corners()]
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
            if corner not in reached and not any(disc.blocks(here, corner) for disc in discs):
                heapq.heappush(frontier, (length + dist(here, corner), (*points, corner)))
    return ()


def nearest_in(area: Rectangle, point: Point2) -> Point2:
    """The point of the area nearest to `point`."""
    return min(max(point[0], area.x_min), area.x_max), min(max(point[1], area.y_min), area.y_max)


def _closest(disc: Disc, start: Point2, goal: Point2) -> float:
    """How near to the obstacle's middle the way must come, for it begins or ends there [m]."""
    return max(0.0, min(dist(disc.center, start), dist(disc.center, goal)) - _MARGIN)
