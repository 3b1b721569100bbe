"""Shapes of objects on the table: convex boxes, grasps, and sliding parts of furniture.

An object's frame is the centre of its bounding box, z up. Furniture (drawer, button, stain) is in a world only on
request. It does not move as a whole; one number is its state (see `SceneObject`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.scene.furniture import CEILING, DEPTH, FRONT, HEIGHT, SIDE, TRAY_FLOOR, WIDTH
from llm_planner.scene.predicates import BUTTON, DRAWER, SHELF, STAIN
from llm_planner.scene.scene import Vector3

SCALE_MIN, SCALE_MAX = 0.8, 1.2  # of an object relative to its kind, where sizes are drawn at random
SMALLEST = 0.4  # least scale of an object, for short arms
WIDEST = DEFAULT_HAND.widest_object  # [m] of the kinds of objects, which all fit between the default hand's fingers


@dataclass(frozen=True)
class Box:
    """Convex part: centre and half extents [m], turned by `yaw` about z, then by `tilt` about its own y [rad]."""

    center: Vector3
    half: Vector3
    yaw: float = 0.0
    tilt: float = 0.0

    def scaled(self, scale: float) -> Box:
        """Return the box scaled about the origin."""
        return Box(times(self.center, scale), times(self.half, scale), self.yaw, self.tilt)

    def moved(self, by: Vector3) -> Box:
        """Return the box moved by a vector [m]."""
        x, y, z = self.center
        return replace(self, center=(x + by[0], y + by[1], z + by[2]))

    def quaternion(self) -> tuple[float, float, float, float]:
        """Return the orientation in MuJoCo's order (w, x, y, z)."""
        cy, sy = math.cos(self.yaw / 2), math.sin(self.yaw / 2)
        ct, st = math.cos(self.tilt / 2), math.sin(self.tilt / 2)
        return cy * ct, -sy * st, cy * st, sy * ct

    def corners(self) -> NDArray[np.float64]:
        """Return the eight corners (8, 3) [m]."""
        cy, sy, ct, st = math.cos(self.yaw), math.sin(self.yaw), math.cos(self.tilt), math.sin(self.tilt)
        rotation = np.array([[cy * ct, -sy, cy * st], [sy * ct, cy, sy * st], [-st, 0.0, ct]])
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        corners: NDArray[np.float64] = np.array(self.center) + (signs * np.array(self.half)) @ rotation.T
        return corners


@dataclass(frozen=True)
class Grasp:
    """Grasp from above, in the object's frame.

    Attributes:
        point: Point between the fingertips [m].
        yaw: Angle of the closing axis about z [rad].
        width: Thickness between the fingers [m].
    """

    point: Vector3
    yaw: float
    width: float


@dataclass(frozen=True)
class Sliding:
    """Sliding part of furniture: its boxes in state 0, the unit vector of its axis, and its travel [m]."""

    parts: tuple[Box, ...]
    axis: Vector3
    travel: float

    def scaled(self, scale: float) -> Sliding:
        """Return the part scaled about the origin."""
        return Sliding(tuple(part.scaled(scale) for part in self.parts), self.axis, scale * self.travel)


@dataclass(frozen=True)
class ObjectKind:
    """Kind of object: parts around the centre of its bounding box, extents [m], mass [kg] and grasps, best first.

    An object that is `fixed` never moves; its grasps are where its sliding part is taken or pressed. `radius` is the
    space that it needs on the table at any yaw, including the hand that works on it [m].
    """

    name: str
    size: Vector3
    mass: float
    parts: tuple[Box, ...]
    grasps: tuple[Grasp, ...]
    radius: float
    fixed: bool = False
    sliding: Sliding | None = None

    @property
    def opens(self) -> bool:
        """Whether its sliding part comes out sideways, which makes its box longer by its state [m]."""
        return self.sliding is not None and self.sliding.axis[0] != 0.0

    def size_at(self, state: float) -> Vector3:
        """Return the extents of its box in that state [m]."""
        return self.size[0] + (state if self.opens else 0.0), self.size[1], self.size[2]

    def middle_at(self, state: float) -> Vector3:
        """Return the centre of its box in that state, relative to that in state 0 [m]."""
        return times(self.sliding.axis, state / 2) if self.sliding and self.opens else (0.0, 0.0, 0.0)

    def parts_at(self, state: float) -> tuple[Box, ...]:
        """Return all parts, around the centre of the box in that state."""
        if self.sliding is None:
            return self.parts
        back = times(self.middle_at(state), -1.0)
        # Relative to the centre, which moves by half the state, the sliding part has moved by the other half.
        slid = times(back, -1.0)
        return (*(part.moved(back) for part in self.parts), *(part.moved(slid) for part in self.sliding.parts))

    @property
    def scale_max(self) -> float:
        """Largest scale at which it fits between the fingers."""
        widths = [grasp.width for grasp in self.grasps]
        return min(SCALE_MAX, math.floor(100 * WIDEST / min(widths)) / 100) if any(widths) else SCALE_MAX

    def scaled(self, scale: float) -> ObjectKind:
        """Return the kind scaled at the same density."""
        return replace(
            self,
            size=times(self.size, scale),
            mass=self.mass * scale**3,
            parts=tuple(part.scaled(scale) for part in self.parts),
            grasps=tuple(Grasp(times(one.point, scale), one.yaw, one.width * scale) for one in self.grasps),
            radius=self.radius * scale,
            sliding=self.sliding and self.sliding.scaled(scale),
        )


def times(vector: Vector3, scale: float) -> Vector3:
    """Return `vector` scaled."""
    return vector[0] * scale, vector[1] * scale, vector[2] * scale


def ring(count: int, inner_bottom: float, inner_top: float, low: float, high: float, thickness: float) -> list[Box]:
    """Build a round wall of `count` boxes between two heights [m].

    Its inner radius changes from `inner_bottom` to `inner_top` [m].
    """
    lean = math.atan2(inner_top - inner_bottom, high - low)
    radius = (inner_bottom + inner_top) / 2 + thickness / 2 / math.cos(lean)
    half = (thickness / 2, radius * math.tan(math.pi / count), (high - low) / 2 / math.cos(lean))
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Box((radius * math.cos(a), radius * math.sin(a), (low + high) / 2), half, yaw=a, tilt=lean) for a in angles]


def octagon(half_width: float, low: float, high: float) -> list[Box]:
    """Build an upright prism from two square boxes, one turned by 45 degrees; only the first reaches the floor."""
    lift = 0.0005
    first = Box((0.0, 0.0, (low + high) / 2), (half_width, half_width, (high - low) / 2))
    second = Box((0.0, 0.0, (low + lift + high) / 2), (half_width, half_width, (high - low - lift) / 2), math.pi / 4)
    return [first, second]


def prism(half_width: float, low: float, high: float) -> list[Box]:
    """Build an upright prism with eight flat sides from four boxes; only the first reaches the floor."""
    lift, narrow = 0.0005, half_width * math.tan(math.pi / 8)
    return [
        Box((0.0, 0.0, (begin + high) / 2), (half_width, narrow, (high - begin) / 2), k * math.pi / 4)
        for k, begin in enumerate((low, low + lift, low + lift, low + lift))
    ]


def built(name: str, mass: float, parts: Sequence[Box], grasps: Sequence[Grasp]) -> ObjectKind:
    """Build a kind from parts and grasps with z = 0 at the foot, which it moves to the centre of the bounding box."""
    low, high = bounds(parts)
    center, size = (low + high) / 2, high - low
    cx, cy, cz = center.tolist()

    def centered(point: Vector3) -> Vector3:
        return point[0] - cx, point[1] - cy, point[2] - cz

    moved = tuple(Box(centered(part.center), part.half, part.yaw, part.tilt) for part in parts)
    return ObjectKind(
        name,
        (float(size[0]), float(size[1]), float(size[2])),
        mass,
        moved,
        tuple(Grasp(centered(grasp.point), grasp.yaw, grasp.width) for grasp in grasps),
        float(max(math.hypot(*corner[:2]) for part in moved for corner in part.corners())),
    )


def bounds(parts: Sequence[Box]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and highest corners of the bounding box of `parts`, (3,) each [m]."""
    corners = np.concatenate([part.corners() for part in parts])
    return corners.min(axis=0), corners.max(axis=0)


def around(count: int, radius: float, height: float, width: float) -> list[Grasp]:
    """Return evenly spaced grasps of a round wall, with the closing axis pointing outwards."""
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Grasp((radius * math.cos(a), radius * math.sin(a), height), a, width) for a in angles]


_WALL, _LIP = 0.006, 0.006  # [m] thickness of the cabinet's walls; height of the tray's sides, below the fingers
_PANEL, _BAR = 0.008, 0.010  # [m] depth of the tray's front and of the bar of its T-shaped handle
_STEM = FRONT - _PANEL - _BAR
_PALM = (0.030, 0.100)  # [m] half extents of the palm over the handle


def _between(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Box:
    ends = (x, y, z)
    center, half = ([(b + sign * a) / 2 for a, b in ends] for sign in (1, -1))
    return Box((center[0], center[1], center[2]), (half[0], half[1], half[2]))


def _drawer() -> ObjectKind:
    """Build a low cabinet with a tray that slides out along -x and is grasped from above at its handle's stem."""
    side, back = WIDTH / 2, DEPTH - _WALL
    cabinet = [
        _between((0.0, DEPTH), (-side, side), (CEILING, HEIGHT)),
        _between((0.0, DEPTH), (-side, side), (0.0, 0.004)),
        _between((0.0, DEPTH), (-side, _WALL - side), (0.0, HEIGHT)),
        _between((0.0, DEPTH), (side - _WALL, side), (0.0, HEIGHT)),
        _between((back, DEPTH), (-side, side), (0.0, HEIGHT)),
    ]
    inner, end, low = side - SIDE + 0.004, back - 0.003, TRAY_FLOOR - 0.003
    tray = [
        _between((-_PANEL, -0.001), (-side, side), (0.004, HEIGHT - 0.002)),
        _between((-0.001, end), (-inner, inner), (low, TRAY_FLOOR)),
        _between((-0.001, end), (-inner, 0.004 - inner), (low, TRAY_FLOOR + _LIP)),
        _between((-0.001, end), (inner - 0.004, inner), (low, TRAY_FLOOR + _LIP)),
        _between((end - 0.004, end), (-inner, inner), (low, 0.045)),
        _between((-_PANEL - _STEM, -_PANEL), (-0.006, 0.006), (0.026, 0.046)),
        _between((-_PANEL - _STEM - _BAR, -_PANEL - _STEM), (-0.03, 0.03), (0.026, 0.046)),
    ]
    stem = Grasp((-_PANEL - _STEM / 2, 0.0, 0.036), math.pi / 2, 0.012)
    return _sliding(DRAWER, 0.9, cabinet, tray, stem, (-1.0, 0.0, 0.0), 0.10)


def _sliding(
    name: str, mass: float, base: list[Box], parts: list[Box], grasp: Grasp, axis: Vector3, travel: float
) -> ObjectKind:
    """Build furniture from a fixed and a sliding part; its radius is about the centre of the box at full travel."""
    kind = built(name, mass, [*base, *parts], [grasp])
    fixed, moving = kind.parts[: len(base)], kind.parts[len(base) :]
    kind = replace(kind, parts=fixed, fixed=True, sliding=Sliding(moving, axis, travel))
    length, width, _ = kind.size_at(travel)
    radius = math.hypot(length / 2, width / 2)
    if kind.opens:
        hand = travel / 2 - kind.grasps[0].point[0]
        radius = max(radius, math.hypot(hand + _PALM[0], _PALM[1]))
    return replace(kind, radius=radius)


_SHELF_PARTS = (
    _between((-0.08, 0.08), (-0.18, 0.18), (0.278, 0.29)),
    _between((0.08, 0.092), (-0.18, 0.18), (0.0, 0.29)),
)
_STAIN = built(STAIN, 0.0, [_between((-0.06, 0.06), (-0.04, 0.04), (0.0, 0.001))], [])
FURNITURE = (
    _drawer(),
    _sliding(  # a box with a sprung cap, pressed from above
        BUTTON,
        0.3,
        [_between((-0.035, 0.035), (-0.035, 0.035), (0.0, 0.025))],
        octagon(0.018, 0.022, 0.045),
        Grasp((0.0, 0.0, 0.045), math.pi / 2, 0.0),
        (0.0, 0.0, -1.0),
        0.010,
    ),
    replace(_STAIN, fixed=True, radius=_STAIN.radius + 0.02),  # flat, with space for the hand that wipes it
    replace(built(SHELF, 2.0, _SHELF_PARTS, []), fixed=True),  # a board on a wall behind it, towards +x
)
