"""Boxes in space: the extents of scene objects and the surfaces they offer. Pure Python, lengths in metres."""

from __future__ import annotations

import math
from functools import lru_cache

from llm_planner.world.scene import Quaternion, SceneObject, Vector3

Matrix3 = tuple[Vector3, Vector3, Vector3]

ROUND_KINDS = frozenset({"bowl", "plate", "vase", "cup", "pot", "pan"})  # as wide whichever way they are turned
UPRIGHT = math.cos(math.radians(12.0))  # an axis this close to the vertical counts as upright


def rotation_matrix(orientation: Quaternion) -> Matrix3:
    """R with v_base = R v_object, for a unit quaternion (x, y, z, w)."""
    x, y, z, w = orientation
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def half_extents(item: SceneObject) -> Vector3:
    """Half the size of the upright box, aligned with the base frame, that encloses `item`."""
    return _half_extents(item.kind in ROUND_KINDS, item.orientation, item.size)


@lru_cache(maxsize=4096)
def _half_extents(is_round: bool, orientation: Quaternion, size: Vector3) -> Vector3:
    """Asked for again and again, of things that are seldom turned."""
    rows = rotation_matrix(orientation)
    if is_round and abs(rows[2][2]) >= UPRIGHT:
        radius = max(size[:2]) / 2
        return radius, radius, sum(abs(rows[2][k]) * size[k] for k in range(3)) / 2
    x, y, z = (sum(abs(row[k]) * size[k] for k in range(3)) / 2 for row in rows)
    return x, y, z


def bottom(item: SceneObject) -> float:
    """Height of the lowest point of the object's box."""
    return item.position[2] - half_extents(item)[2]


def top(item: SceneObject) -> float:
    """Height of the highest point of the object's box."""
    return item.position[2] + half_extents(item)[2]


def distance_in_plane(a: Vector3 | tuple[float, float], b: Vector3 | tuple[float, float]) -> float:
    """Distance seen from above."""
    return math.hypot(a[0] - b[0], a[1] - b[1])


def distance_to_box(point: tuple[float, float], item: SceneObject) -> float:
    """From a point to the object's box, both seen from above [m]; 0 inside."""
    reach = half_extents(item)
    return math.hypot(*(max(0.0, abs(point[k] - item.position[k]) - reach[k]) for k in (0, 1)))


def is_above(item: SceneObject, x: float, y: float) -> bool:
    """Whether the vertical line through (x, y) meets the object's box, however it lies (slab test in its own frame)."""
    rows = rotation_matrix(item.orientation)
    dx, dy = x - item.position[0], y - item.position[1]
    low, high = -math.inf, math.inf
    for k in range(3):
        origin, slope, half = rows[0][k] * dx + rows[1][k] * dy, rows[2][k], item.size[k] / 2
        if abs(slope) < 1e-9:
            if abs(origin) > half:
                return False
            continue
        ends = sorted(((-half - origin) / slope, (half - origin) / slope))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low <= high
