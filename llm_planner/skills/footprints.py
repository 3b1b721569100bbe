"""Footprints of objects: areas seen from above, the gaps between them, and the parts of an object of a known kind.

Lengths in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from llm_planner.scene.geometry import ROUND_KINDS, UPRIGHT, half_extents, rotation_matrix, yaw_of
from llm_planner.scene.scene import SceneObject
from llm_planner.simulation.objects import KINDS, spec_of
from llm_planner.simulation.shapes import ObjectKind

Point2 = tuple[float, float]


def turned(point: Point2, angle: float) -> Point2:
    """Return a point turned about the origin by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return c * point[0] - s * point[1], s * point[0] + c * point[1]


def distance_to_segment(point: Point2, a: Point2, b: Point2) -> float:
    """Return the distance [m] from a point to the line segment from `a` to `b`."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    share = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / square if square else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.hypot(a[0] + share * dx - point[0], a[1] + share * dy - point[1])


@dataclass(frozen=True)
class Footprint:
    """Area seen from above: a rectangle of half sizes `half` turned by `yaw` [rad], or a disc of radius `half[0]`."""

    center: Point2
    half: Point2
    yaw: float = 0.0
    round: bool = False

    def at(self, center: Point2, yaw: float) -> Footprint:
        """Return the same shape at another place."""
        return Footprint(center, self.half, yaw, self.round)

    @property
    def radius(self) -> float:
        """Radius of the enclosing disc [m]."""
        return self.half[0] if self.round else math.hypot(*self.half)

    def extent(self, direction: float) -> float:
        """Return how far the shape extends from its centre along `direction` [rad], in metres."""
        if self.round:
            return self.half[0]
        turn = direction - self.yaw
        return self.half[0] * abs(math.cos(turn)) + self.half[1] * abs(math.sin(turn))


def is_upright(item: SceneObject) -> bool:
    """Return whether the object's z axis points up, as its grasps and its opening require."""
    return rotation_matrix(item.orientation)[2][2] >= UPRIGHT


def footprint(item: SceneObject) -> Footprint:
    """Return the footprint of an object: exact if one of its axes is vertical, otherwise its upright box."""
    rows = rotation_matrix(item.orientation)
    vertical = max(range(3), key=lambda k: abs(rows[2][k]))
    x, y, _ = item.position
    if abs(rows[2][vertical]) < UPRIGHT:
        reach = half_extents(item)
        return Footprint((x, y), (reach[0], reach[1]))
    first, second = (k for k in range(3) if k != vertical)
    if item.kind in ROUND_KINDS and vertical == 2:
        return Footprint((x, y), (max(item.size[:2]) / 2,) * 2, round=True)
    yaw = math.atan2(rows[1][first], rows[0][first])
    return Footprint((x, y), (item.size[first] / 2, item.size[second] / 2), yaw)


def separation(a: Footprint, b: Footprint) -> float:
    """Return the gap between two footprints [m], negative where they overlap.

    For two rectangles this is the widest gap over their four axes (separating axis theorem): exact if they overlap or
    face each other, otherwise a lower bound of the distance.
    """
    if a.round and b.round:
        return math.dist(a.center, b.center) - a.half[0] - b.half[0]
    if a.round:
        return _point_to_rectangle(a.center, b) - a.half[0]
    if b.round:
        return _point_to_rectangle(b.center, a) - b.half[0]
    dx, dy = b.center[0] - a.center[0], b.center[1] - a.center[1]
    turn = b.yaw - a.yaw
    c, s = abs(math.cos(turn)), abs(math.sin(turn))
    ca, sa, cb, sb = math.cos(a.yaw), math.sin(a.yaw), math.cos(b.yaw), math.sin(b.yaw)
    return max(
        abs(dx * ca + dy * sa) - a.half[0] - b.half[0] * c - b.half[1] * s,
        abs(dy * ca - dx * sa) - a.half[1] - b.half[0] * s - b.half[1] * c,
        abs(dx * cb + dy * sb) - b.half[0] - a.half[0] * c - a.half[1] * s,
        abs(dy * cb - dx * sb) - b.half[1] - a.half[0] * s - a.half[1] * c,
    )


def reach_from(point: Point2, shape: Footprint) -> float:
    """Return the largest distance [m] from `point` to any point of `shape`."""
    if shape.round:
        return math.dist(point, shape.center) + shape.half[0]
    along, across = _in_frame(point, shape)
    return math.hypot(abs(along) + shape.half[0], abs(across) + shape.half[1])


def _in_frame(point: Point2, shape: Footprint) -> Point2:
    return turned((point[0] - shape.center[0], point[1] - shape.center[1]), -shape.yaw)


def _point_to_rectangle(point: Point2, shape: Footprint) -> float:
    along, across = _in_frame(point, shape)
    outside = (abs(along) - shape.half[0], abs(across) - shape.half[1])
    if max(outside) <= 0.0:
        return max(outside)
    return math.hypot(max(outside[0], 0.0), max(outside[1], 0.0))


@dataclass(frozen=True)
class Part:
    """Convex part of an upright object: footprint, lower and upper height [m], and whether its top is level."""

    shape: Footprint
    low: float
    high: float
    level: bool = True


def parts_of(item: SceneObject, kind: ObjectKind) -> tuple[Part, ...]:
    """Return the parts of an upright object of that kind."""
    (x, y, z), rows = item.position, rotation_matrix(item.orientation)
    yaw = yaw_of(item)
    found = []
    for part in kind.parts_at(item.state) if kind.sliding else kind.parts:
        px, py, pz = (sum(row[k] * part.center[k] for k in range(3)) for row in rows)
        c, s = abs(math.cos(part.tilt)), abs(math.sin(part.tilt))
        half = part.half[0] * c + part.half[2] * s, part.half[1]
        reach = part.half[2] * c + part.half[0] * s
        shape = Footprint((x + px, y + py), half, yaw + part.yaw)
        found.append(Part(shape, z + pz - reach, z + pz + reach, part.tilt == 0.0))
    return tuple(found)


def known_kind(item: SceneObject) -> ObjectKind | None:
    """Return the shape of an object that is like its kind; None if only its box is known."""
    kind = spec_of(item).shape if item.kind in KINDS else None
    return kind if kind is not None and math.dist(kind.size, item.size) < 0.01 else None
