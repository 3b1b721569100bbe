"""Ways around what stands in a room: from one point to another, past round obstacles, inside the walls."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import copysign, cos, dist, hypot, pi, sin

from llm_planner.world.places import Point2, Rectangle

CORNERS = 12  # around each obstacle, where a way may bend
SHARES = (1.0, 0.87)  # of the room around obstacles, tried in turn
_MARGIN = 0.02  # [m] the corners lie outside the obstacles' rims


@dataclass(frozen=True)
class Obstacle:
    """Where the robot's middle may not be: nearer than `radius` [m] to `center`, or to the upright rectangle of the
    half sizes `half` [m] around that. What is `firm` is never passed more closely, save to get away from it.
    """

    center: Point2
    radius: float
    half: Point2 = (0.0, 0.0)
    firm: bool = False

    def distance(self, point: Point2) -> float:
        """From `point` to the rectangle [m]; 0 inside."""
        return hypot(*(max(abs(p - c) - h, 0.0) for p, c, h in zip(point, self.center, self.half, strict=True)))

    def covers(self, point: Point2) -> bool:
        """Whether the robot's middle may not be there."""
        return self.distance(point) < self.radius

    def blocks(self, a: Point2, b: Point2) -> bool:
        """Whether the straight way from `a` to `b` goes through it."""
        if self.half == (0.0, 0.0):
            return _to_line(self.center, a, b) < self.radius
        if self.covers(a) or self.covers(b) or self._is_crossed(a, b):
            return True
        (x, y), (hx, hy) = self.center, self.half
        return any(_to_line((x + i * hx, y + j * hy), a, b) < self.radius for i in (-1, 1) for j in (-1, 1))

    def corners(self) -> list[Point2]:
        """Around it, so that the straight ways from each to the next are free of it."""
        radius = (self.radius + _MARGIN) / cos(pi / CORNERS)
        angles = [2 * pi * (k + 0.5) / CORNERS for k in range(CORNERS)]
        (x, y), (hx, hy) = self.center, self.half
        return [
            (x + copysign(hx, cos(a)) + radius * cos(a), y + copysign(hy, sin(a)) + radius * sin(a)) for a in angles
        ]

    def _is_crossed(self, a: Point2, b: Point2) -> bool:
        """Whether the line comes into the rectangle itself: its share inside both strips is not empty."""
        first, last = 0.0, 1.0
        for start, end, center, half in zip(a, b, self.center, self.half, strict=True):
            if start == end:
                if abs(start - center) > half:
                    return False
                continue
            enter, leave = sorted(((center + side * half - start) / (end - start)) for side in (-1, 1))
            first, last = max(first, enter), min(last, leave)
        return first <= last


def _to_line(point: Point2, a: Point2, b: Point2) -> float:
    """From a point to the straight line between two others [m]."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    share = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / square if square else 0.0
    share = min(max(share, 0.0), 1.0)
    return hypot(a[0] + share * dx - point[0], a[1] + share * dy - point[1])


def way_around(start: Point2, goal: Point2, obstacles: Sequence[Obstacle], area: Rectangle) -> tuple[Point2, ...]:
    """The shortest way inside `area` from `start` to `goal`, without the start; straight where there is none, and empty
    where firm obstacles leave none.

    Where there is no way with all the room that is wanted, obstacles are passed more closely, but for firm ones. Around
    a start or a goal that is too close to an obstacle, it may be passed as closely as that.
    """
    firm = [_shrunk(one, _closest(one, start)) for one in obstacles if one.firm]
    if any(one.covers(goal) for one in firm):
        return ()
    for share in (*SHARES, 0.0):
        soft = [one for one in obstacles if not one.firm and share]
        solid = [_shrunk(one, min(share * one.radius, _closest(one, start, goal))) for one in soft]
        way = _shortest(start, goal, [*firm, *solid], area)
        if way:
            return way
    return ()


def _shrunk(obstacle: Obstacle, radius: float) -> Obstacle:
    return replace(obstacle, radius=min(obstacle.radius, radius))


def _shortest(start: Point2, goal: Point2, obstacles: Sequence[Obstacle], area: Rectangle) -> tuple[Point2, ...]:
    """Dijkstra's over the corners around the obstacles; empty where there is no way."""
    if not any(one.blocks(start, goal) for one in obstacles):
        return (goal,)
    corners = [nearest_in(area, corner) for one in obstacles for corner in one.corners()]
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
            if corner not in reached and not any(one.blocks(here, corner) for one in obstacles):
                heapq.heappush(frontier, (length + dist(here, corner), (*points, corner)))
    return ()


def nearest_in(area: Rectangle, point: Point2) -> Point2:
    """The point of the area nearest to `point`."""
    return min(max(point[0], area.x_min), area.x_max), min(max(point[1], area.y_min), area.y_max)


def _closest(obstacle: Obstacle, *ends: Point2) -> float:
    """How near to the obstacle the way must come, for it begins or ends there [m]."""
    return max(0.0, min(map(obstacle.distance, ends)) - _MARGIN)
