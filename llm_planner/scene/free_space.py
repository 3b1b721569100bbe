"""Free spots, rows and circles on the table, and shortest routes through a building.

Table positions come from a search over a grid. A route consists of straight lines inside rooms, which are convex, and
passes between rooms at doors; Dijkstra's algorithm over the door centres finds the shortest. Lengths are in metres,
in the base frame on the table and in the map frame in a building.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import dist

from llm_planner.errors import InputError
from llm_planner.scene.geometry import distance_in_plane, half_extents
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Building, Scene, Vector3

# Lengths before a large arm; before a short one they shrink with its things (`Scene.scale`).
GRID = 0.02  # [m] spacing of the candidates, half a block
FINGER_ROOM = 0.03  # [m] that open fingers need around the object they hold
BLOCK_RADIUS = 0.03  # [m] assumed where the object to be placed is not known
ROW_SPACING = 0.09  # [m] between points of a row or circle, a block and the fingers around it


def clearance(scene: Scene, point: Point2 | Vector3, ignore: Collection[str] = ()) -> float:
    """Return the distance from `point` to the nearest object on a table [m], without the held and the ignored ones."""
    gaps = [
        distance_in_plane(item.position, point) - max(half_extents(item)[:2])
        for item in scene.objects
        if item.name != scene.held and item.name not in ignore and item.kind != TABLE_KIND
    ]
    return min(gaps, default=math.inf)


def free_spot(
    scene: Scene,
    area: Rectangle,
    near: Point2,
    radius: float | None = None,
    ignore: Collection[str] = (),
    allowed: Callable[[Point2], bool] = lambda point: True,
) -> Point2:
    """Return the point of `area` nearest to `near` that has enough clearance.

    Args:
        scene: Scene with the objects to avoid.
        area: Area to search [m, base frame].
        near: Preferred point [m, base frame]; also a candidate.
        radius: Radius of the object to be placed [m], by default that of a block. The fingers need `FINGER_ROOM` more.
        ignore: Names of objects that may be near.
        allowed: Further condition on a point.

    Returns:
        The nearest suitable point, or the one with the largest clearance if none is suitable; the caller decides
        whether that `clearance` is enough.
    """
    scale = scene.scale
    points = sorted([near, *_grid(area, scale)], key=lambda point: distance_in_plane(point, near))
    wanted = (scale * BLOCK_RADIUS if radius is None else radius) + scale * FINGER_ROOM
    for point in points:
        if clearance(scene, point, ignore) >= wanted and allowed(point):
            return point
    return max(points, key=lambda point: clearance(scene, point, ignore))


def row(
    scene: Scene, count: int, along: Point2, center: Point2 | None = None, gap: float | None = None
) -> tuple[Point2, ...]:
    """Return `count` points in a straight row along the unit vector `along`, `gap` [m] between neighbours.

    Without a `center` the row lies where the table is most free, preferably in the middle. Without a `gap` the spacing
    is as wide as fits, up to `ROW_SPACING`.
    """
    area = scene.workspace
    length = (area.y_max - area.y_min) if along[1] else (area.x_max - area.x_min)
    spacing = min(scene.scale * ROW_SPACING, 0.9 * length / max(count - 1, 1)) if gap is None else gap
    offsets = [(k - (count - 1) / 2) * spacing for k in range(count)]
    shape = [(along[0] * offset, along[1] * offset) for offset in offsets]
    if center is not None:
        return tuple((center[0] + dx, center[1] + dy) for dx, dy in shape)
    return _freest(scene, shape)


def circle(scene: Scene, count: int) -> tuple[Point2, ...]:
    """Return `count` points on a circle where the table is most free, counter-clockwise from its far side."""
    depth = scene.workspace.x_max - scene.workspace.x_min
    radius = min(scene.scale * max(count * ROW_SPACING / (2 * math.pi), 0.08), 0.45 * depth)
    angles = [2 * math.pi * k / count for k in range(count)]
    return _freest(scene, [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles])


def _freest(scene: Scene, shape: Sequence[Point2]) -> tuple[Point2, ...]:
    """Place the shape near the middle where every point has enough clearance, or where the clearance is largest."""

    def place(center: Point2) -> tuple[Point2, ...]:
        return tuple((center[0] + dx, center[1] + dy) for dx, dy in shape)

    def room(center: Point2) -> float:
        enough = scene.scale * (BLOCK_RADIUS + FINGER_ROOM)
        return min(enough, *(clearance(scene, point) for point in place(center)))

    if not shape:
        return ()
    area = scene.workspace
    centers = [c for c in _grid(area, scene.scale) if all(area.contains(*p) for p in place(c))] or [area.center]
    centers.sort(key=lambda center: distance_in_plane(center, area.center))
    return place(max(centers, key=room))


def _grid(area: Rectangle, scale: float) -> Iterator[Point2]:
    step = scale * GRID
    columns = round((area.x_max - area.x_min) / step)
    rows = round((area.y_max - area.y_min) / step)
    for i in range(columns + 1):
        for j in range(rows + 1):
            yield area.x_min + i * step, area.y_min + j * step


@dataclass(frozen=True)
class Route:
    """Path through a building: `points` are its corners with start and goal, `rooms` the rooms it passes, in order."""

    points: tuple[Point2, ...]
    rooms: tuple[str, ...]

    @property
    def length(self) -> float:
        """Length of the whole path [m]."""
        return sum(dist(a, b) for a, b in pairwise(self.points))


@lru_cache(maxsize=4096)  # planning asks for the same few routes repeatedly
def shortest_route(building: Building, start: Point2, goal: Point2) -> Route:
    """Return the shortest route between two points [m]. Raises InputError if there is none or a point is outside."""
    for point in (start, goal):
        if not building.room_at(*point):
            raise InputError(f"the point ({point[0]:.2f}, {point[1]:.2f}) lies outside the building")
    first, last = building.room_at(*start), building.room_at(*goal)
    frontier: list[tuple[float, tuple[Point2, ...], tuple[str, ...]]] = [(0.0, (start,), (first,))]
    reached: set[tuple[Point2, str]] = set()
    while frontier:
        length, points, rooms = heapq.heappop(frontier)
        if points[-1] == goal and rooms[-1] == last:
            return Route(points, rooms)
        if (points[-1], rooms[-1]) in reached:
            continue
        reached.add((points[-1], rooms[-1]))
        if rooms[-1] == last:
            heapq.heappush(frontier, (length + dist(points[-1], goal), (*points, goal), rooms))
        for door, beyond in building.doors_of(rooms[-1]):
            if beyond not in rooms:  # rooms are convex; doors in one wall would make a detour no longer
                further = length + dist(points[-1], door.position)
                heapq.heappush(frontier, (further, (*points, door.position), (*rooms, beyond)))
    raise InputError(f"no doors lead from {the(first)} to {the(last)}")


def distance(building: Building, a: Point2, b: Point2) -> float:
    """Return the length of the shortest route from `a` to `b` [m]. Raises InputError as `shortest_route` does."""
    return shortest_route(building, a, b).length
