"""What things on the table are built of: convex boxes, the grasps on them and, of furniture, the part that slides.

An object's frame is the centre of its bounding box, z up.

Furniture for the table, on demand only: a drawer, a button to press, and a stain to wipe away.

It stands where it is put for good; what is done to it is one number, its state (see `SceneObject`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.robots import GRIPPER_WIDTH_MAX
from llm_planner.scene.furniture import CEILING, DEPTH, FRONT, HEIGHT, SIDE, TRAY_FLOOR, WIDTH
from llm_planner.scene.predicates import BUTTON, DRAWER, STAIN
from llm_planner.scene.scene import Vector3

SCALE_MIN, SCALE_MAX = 0.8, 1.2  # of a thing against its kind
WIDEST = GRIPPER_WIDTH_MAX - 0.006  # [m] thickest thing that the fingers get around


@dataclass(frozen=True)
class Box:
    """One convex part: centre and half extents [m], turned by `yaw` about z, then by `tilt` about its own y [rad]."""

    center: Vector3
    half: Vector3
    yaw: float = 0.0
    tilt: float = 0.0

    def scaled(self, scale: float) -> Box:
        """The same, `scale` times as large and as far from the origin."""
        return Box(times(self.center, scale), times(self.half, scale), self.yaw, self.tilt)

    def moved(self, by: Vector3) -> Box:
        """The same elsewhere."""
        x, y, z = self.center
        return replace(self, center=(x + by[0], y + by[1], z + by[2]))

    def quaternion(self) -> tuple[float, float, float, float]:
        """Orientation as MuJoCo writes it, (w, x, y, z)."""
        cy, sy = math.cos(self.yaw / 2), math.sin(self.yaw / 2)
        ct, st = math.cos(self.tilt / 2), math.sin(self.tilt / 2)
        return cy * ct, -sy * st, cy * st, sy * ct

    def corners(self) -> NDArray[np.float64]:
        """The eight corners (8, 3) [m]."""
        cy, sy, ct, st = math.cos(self.yaw), math.sin(self.yaw), math.cos(self.tilt), math.sin(self.tilt)
        rotation = np.array([[cy * ct, -sy, cy * st], [sy * ct, cy, sy * st], [-st, 0.0, ct]])
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        corners: NDArray[np.float64] = np.array(self.center) + (signs * np.array(self.half)) @ rotation.T
        return corners


@dataclass(frozen=True)
class Grasp:
    """Where the fingers take it from above, in the object's frame: the point between the fingertips [m], the angle of
    the closing axis about z [rad] and the thickness between the fingers [m]."""

    point: Vector3
    yaw: float
    width: float


@dataclass(frozen=True)
class Sliding:
    """The part of furniture that moves: its boxes in the state 0, the unit vector that it slides along, how far [m]."""

    parts: tuple[Box, ...]
    axis: Vector3
    travel: float

    def scaled(self, scale: float) -> Sliding:
        """The same, `scale` times as large."""
        return Sliding(tuple(part.scaled(scale) for part in self.parts), self.axis, scale * self.travel)


@dataclass(frozen=True)
class ObjectKind:
    """A noun: its parts around the centre of its bounding box, full extents [m], mass [kg] and grasps, best first.

    What is `fixed` stands where it was put and is never moved; its grasps are where its sliding part is taken or
    pressed. `radius` is what it needs on the table whatever its yaw [m], the hand that works at it included.
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
        """The extents of its box in that state [m]."""
        return self.size[0] + (state if self.opens else 0.0), self.size[1], self.size[2]

    def middle_at(self, state: float) -> Vector3:
        """The centre of its box in that state, seen from where it is in the state 0 [m]."""
        return times(self.sliding.axis, state / 2) if self.sliding and self.opens else (0.0, 0.0, 0.0)

    def parts_at(self, state: float) -> tuple[Box, ...]:
        """All its parts around the centre of its box in that state."""
        if self.sliding is None:
            return self.parts
        back = times(self.middle_at(state), -1.0)
        # What has come out by the state is half that from the middle, which has moved with it.
        slid = times(back, -1.0)
        return (*(part.moved(back) for part in self.parts), *(part.moved(slid) for part in self.sliding.parts))

    @property
    def scale_max(self) -> float:
        """The largest scale at which the fingers get around it."""
        widths = [grasp.width for grasp in self.grasps]
        return min(SCALE_MAX, math.floor(100 * WIDEST / min(widths)) / 100) if any(widths) else SCALE_MAX

    def scaled(self, scale: float) -> ObjectKind:
        """The same, `scale` times as large, of the same material."""
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
    """`vector`, `scale` times as long."""
    return vector[0] * scale, vector[1] * scale, vector[2] * scale


def ring(count: int, inner_bottom: float, inner_top: float, low: float, high: float, thickness: float) -> list[Box]:
    """A wall of `count` boxes whose inner faces lean from one inner radius to the other between two heights [m]."""
    lean = math.atan2(inner_top - inner_bottom, high - low)
    radius = (inner_bottom + inner_top) / 2 + thickness / 2 / math.cos(lean)
    half = (thickness / 2, radius * math.tan(math.pi / count), (high - low) / 2 / math.cos(lean))
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Box((radius * math.cos(a), radius * math.sin(a), (low + high) / 2), half, yaw=a, tilt=lean) for a in angles]


def octagon(half_width: float, low: float, high: float) -> list[Box]:
    """An upright prism of two square boxes, one turned by 45 degrees; only the first reaches the floor."""
    lift = 0.0005
    first = Box((0.0, 0.0, (low + high) / 2), (half_width, half_width, (high - low) / 2))
    second = Box((0.0, 0.0, (low + lift + high) / 2), (half_width, half_width, (high - low - lift) / 2), math.pi / 4)
    return [first, second]


def built(name: str, mass: float, parts: Sequence[Box], grasps: Sequence[Grasp]) -> ObjectKind:
    """A kind whose parts and grasps are given with z = 0 at the foot: moved to the centre of the bounding box."""
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
    """The lowest and the highest corner of the box around `parts`, (3,) each [m]."""
    corners = np.concatenate([part.corners() for part in parts])
    return corners.min(axis=0), corners.max(axis=0)


def around(count: int, radius: float, height: float, width: float) -> list[Grasp]:
    """Grasps of a wall, spread evenly: the closing axis points outward."""
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Grasp((radius * math.cos(a), radius * math.sin(a), height), a, width) for a in angles]


_WALL, _LIP = 0.006, 0.006  # [m] thickness of the drawer's cabinet; height of the tray's sides, which fingers pass over
_PANEL, _BAR = 0.008, 0.010  # [m] of the tray's front and of the bar of its T-shaped handle, the stem between them
_STEM = FRONT - _PANEL - _BAR
_PALM = (0.030, 0.100)  # [m] half the palm that is over the handle


def _between(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Box:
    ends = (x, y, z)
    center, half = ([(b + sign * a) / 2 for a, b in ends] for sign in (1, -1))
    return Box((center[0], center[1], center[2]), (half[0], half[1], half[2]))


def _drawer() -> ObjectKind:
    """A low cabinet whose tray comes out along -x; the fingers take the stem of its handle from above."""
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


def _button() -> ObjectKind:
    """A box with a sprung cap, pressed from above."""
    base = [_between((-0.035, 0.035), (-0.035, 0.035), (0.0, 0.025))]
    top = Grasp((0.0, 0.0, 0.045), math.pi / 2, 0.0)
    return _sliding(BUTTON, 0.3, base, octagon(0.018, 0.022, 0.045), top, (0.0, 0.0, -1.0), 0.010)


def _stain() -> ObjectKind:
    """A flat patch that nothing touches; it needs room for the hand that wipes it."""
    kind = built(STAIN, 0.0, [_between((-0.06, 0.06), (-0.04, 0.04), (0.0, 0.001))], [])
    return replace(kind, fixed=True, radius=kind.radius + 0.02)


def _sliding(
    name: str, mass: float, base: list[Box], parts: list[Box], grasp: Grasp, axis: Vector3, travel: float
) -> ObjectKind:
    """Furniture of a fixed and a sliding part; what it needs is counted from the middle of its box at its largest."""
    kind = built(name, mass, [*base, *parts], [grasp])
    fixed, moving = kind.parts[: len(base)], kind.parts[len(base) :]
    kind = replace(kind, parts=fixed, fixed=True, sliding=Sliding(moving, axis, travel))
    length, width, _ = kind.size_at(travel)
    radius = math.hypot(length / 2, width / 2)
    if kind.opens:
        hand = travel / 2 - kind.grasps[0].point[0]
        radius = max(radius, math.hypot(hand + _PALM[0], _PALM[1]))
    return replace(kind, radius=radius)


FURNITURE = (_drawer(), _button(), _stain())
