"""Where there is room on the table: free spots, rows and circles of points, by search over a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence

from llm_planner.world.geometry import distance_in_plane, half_extents
from llm_planner.world.places import WORKSPACE, Point2, Rectangle
from llm_planner.world.scene import Scene, Vector3

GRID = 0.02  # [m] spacing of the candidates: half a block
FINGER_ROOM = 0.03  # [m] that open fingers need around what they hold
BLOCK_RADIUS = 0.03  # [m] of what a point in a row is for, when nobody knows what will be put there
ROW_SPACING = 0.09  # [m] between points of a row or circle: a block and the fingers around it


def clearance(scene: Scene, point: Point2 | Vector3, ignore: Collection[str] = ()) -> float:
    """Free distance from `point` to the edge of the nearest object standing low enough to be in the way [m]."""
    gaps = [
        distance_in_plane(item.position, point) - max(half_extents(item)[:2])
        for item in scene.objects
        if item.name != scene.held and item.name not in ignore
    ]
    return min(gaps, default=math.inf)


def free_spot(
    scene: Scene,
    area: Rectangle,
    near: Point2,
    radius: float = BLOCK_RADIUS,
    ignore: Collection[str] = (),
    allowed: Callable[[Point2], bool] = lambda point: True,
) -> Point2:
    """The `allowed` point of `area` nearest to `near` with room for a thing of `radius` [m] and the fingers; failing
    that the roomiest one, so the caller decides whether `clearance` there is enough."""
    points = sorted([near, *_grid(area)], key=lambda point: distance_in_plane(point, near))
    wanted = radius + FINGER_ROOM
    for point in points:
        if clearance(scene, point, ignore) >= wanted and allowed(point):
            return point
    return max(points, key=lambda point: clearance(scene, point, ignore))


def row(
    scene: Scene, count: int, along: Point2, center: Point2 | None = None, gap: float | None = None
) -> tuple[Point2, ...]:
    """`count` points in a straight row along the unit vector `along`, `gap` [m] between neighbours.

    Without a `center` the row lies where the table is freest, centred if it can; without a `gap` as wide as fits, up to
    ROW_SPACING.
    """
    length = (WORKSPACE.y_max - WORKSPACE.y_min) if along[1] else (WORKSPACE.x_max - WORKSPACE.x_min)
    spacing = min(ROW_SPACING, 0.9 * length / max(count - 1, 1)) if gap is None else gap
    offsets = [(k - (count - 1) / 2) * spacing for k in range(count)]
    shape = [(along[0] * offset, along[1] * offset) for offset in offsets]
    if center is not None:
        return tuple((center[0] + dx, center[1] + dy) for dx, dy in shape)
    return _freest(scene, shape)


def circle(scene: Scene, count: int) -> tuple[Point2, ...]:
    """`count` points on a circle, counter-clockwise from its far side, where the table is freest."""
    depth = WORKSPACE.x_max - WORKSPACE.x_min
    radius = min(max(count * ROW_SPACING / (2 * math.pi), 0.08), 0.45 * depth)
    angles = [2 * math.pi * k / count for k in range(count)]
    return _freest(scene, [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles])


def _freest(scene: Scene, shape: Sequence[Point2]) -> tuple[Point2, ...]:
    """The shape put where its tightest point has enough room, as near to the middle as possible, else the most room."""

    def place(center: Point2) -> tuple[Point2, ...]:
        return tuple((center[0] + dx, center[1] + dy) for dx, dy in shape)

    def room(center: Point2) -> float:
        enough = BLOCK_RADIUS + FINGER_ROOM
        return min(enough, *(clearance(scene, point) for point in place(center)))

    if not shape:
        return ()
    centers = [c for c in _grid(WORKSPACE) if all(WORKSPACE.contains(*p) for p in place(c))] or [WORKSPACE.center]
    centers.sort(key=lambda center: distance_in_plane(center, WORKSPACE.center))
    return place(max(centers, key=room))


def _grid(area: Rectangle) -> Iterator[Point2]:
    columns = round((area.x_max - area.x_min) / GRID)
    rows = round((area.y_max - area.y_min) / GRID)
    for i in range(columns + 1):
        for j in range(rows + 1):
            yield area.x_min + i * GRID, area.y_min + j * GRID
