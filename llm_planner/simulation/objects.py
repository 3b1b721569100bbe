"""The things that can stand on the table: their words, shapes, masses and where the fingers may take them.

Hollow things are built of convex boxes. An object's frame is the centre of its bounding box, z up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.world.scene import Vector3

# The ten colours of Code as Policies (Liang et al., 2022), as red, green, blue in [0, 1].
COLORS: dict[str, Vector3] = {
    "blue": (0.16, 0.38, 0.85),
    "red": (0.86, 0.16, 0.15),
    "green": (0.20, 0.65, 0.28),
    "orange": (0.96, 0.52, 0.10),
    "yellow": (0.97, 0.82, 0.18),
    "purple": (0.50, 0.25, 0.70),
    "pink": (0.97, 0.56, 0.70),
    "cyan": (0.20, 0.78, 0.85),
    "brown": (0.47, 0.29, 0.16),
    "gray": (0.50, 0.51, 0.53),
}
_PASSED_OVER = ("and", "a", "an", "the", "one")
_COLOR_SPELLINGS = {"grey": "gray"}


@dataclass(frozen=True)
class Box:
    """One convex part: centre and half extents [m], turned by `yaw` about z, then by `tilt` about its own y [rad]."""

    center: Vector3
    half: Vector3
    yaw: float = 0.0
    tilt: float = 0.0

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
class ObjectKind:
    """A noun: its parts around the centre of its bounding box, full extents [m], mass [kg] and grasps, best first."""

    name: str
    size: Vector3
    mass: float
    parts: tuple[Box, ...]
    grasps: tuple[Grasp, ...]

    @property
    def radius(self) -> float:
        """Half the diagonal of the footprint: what it needs on the table whatever its yaw [m]."""
        return float(max(math.hypot(*corner[:2]) for part in self.parts for corner in part.corners()))


@dataclass(frozen=True)
class ObjectSpec:
    """One thing wanted in the scene: a unique name ("red block", "red block 2"), a kind, a colour word or ""."""

    name: str
    kind: str
    color: str


def _ring(count: int, inner_bottom: float, inner_top: float, low: float, high: float, thickness: float) -> list[Box]:
    """A wall of `count` boxes whose inner faces lean from one inner radius to the other between two heights [m]."""
    lean = math.atan2(inner_top - inner_bottom, high - low)
    radius = (inner_bottom + inner_top) / 2 + thickness / 2 / math.cos(lean)
    half = (thickness / 2, radius * math.tan(math.pi / count), (high - low) / 2 / math.cos(lean))
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Box((radius * math.cos(a), radius * math.sin(a), (low + high) / 2), half, yaw=a, tilt=lean) for a in angles]


def _octagon(half_width: float, low: float, high: float) -> list[Box]:
    """An upright prism of two square boxes, one turned by 45 degrees; only the first reaches the floor."""
    lift = 0.0005
    first = Box((0.0, 0.0, (low + high) / 2), (half_width, half_width, (high - low) / 2))
    second = Box((0.0, 0.0, (low + lift + high) / 2), (half_width, half_width, (high - low - lift) / 2), math.pi / 4)
    return [first, second]


def _kind(name: str, mass: float, parts: Sequence[Box], grasps: Sequence[Grasp]) -> ObjectKind:
    """Moves parts and grasps, given with z = 0 at the foot, to the centre of the bounding box."""
    corners = np.concatenate([part.corners() for part in parts])
    low, high = corners.min(axis=0), corners.max(axis=0)
    cx, cy, cz = ((low + high) / 2).tolist()
    sx, sy, sz = (high - low).tolist()

    def centered(point: Vector3) -> Vector3:
        return point[0] - cx, point[1] - cy, point[2] - cz

    return ObjectKind(
        name,
        (sx, sy, sz),
        mass,
        tuple(Box(centered(part.center), part.half, part.yaw, part.tilt) for part in parts),
        tuple(Grasp(centered(grasp.point), grasp.yaw, grasp.width) for grasp in grasps),
    )


def _around(count: int, radius: float, height: float, width: float) -> list[Grasp]:
    """Grasps of a wall, spread evenly: the closing axis points outward."""
    angles = [2 * math.pi * k / count for k in range(count)]
    return [Grasp((radius * math.cos(a), radius * math.sin(a), height), a, width) for a in angles]


def _block() -> ObjectKind:
    grasps = [Grasp((0.0, 0.0, 0.02), math.pi / 2, 0.04), Grasp((0.0, 0.0, 0.02), 0.0, 0.04)]
    return _kind("block", 0.06, [Box((0.0, 0.0, 0.02), (0.02, 0.02, 0.02))], grasps)


def _bowl() -> ObjectKind:
    parts = [*_octagon(0.040, 0.0, 0.005), *_ring(12, 0.053, 0.060, 0.001, 0.045, 0.004)]
    return _kind("bowl", 0.25, parts, _around(12, 0.061, 0.035, 0.005))


def _plate() -> ObjectKind:
    parts = [*_octagon(0.047, 0.0, 0.006), *_ring(12, 0.066, 0.070, 0.001, 0.016, 0.005)]
    return _kind("plate", 0.3, parts, _around(12, 0.0705, 0.012, 0.006))


def _mug() -> ObjectKind:
    wall = _ring(8, 0.029, 0.029, 0.001, 0.08, 0.005)
    handle = [
        Box((0.042, 0.0, 0.062), (0.008, 0.005, 0.005)),
        Box((0.042, 0.0, 0.022), (0.008, 0.005, 0.005)),
        Box((0.052, 0.0, 0.042), (0.005, 0.005, 0.025)),
    ]
    parts = [*_octagon(0.020, 0.0, 0.006), *wall, *handle]
    return _kind("mug", 0.25, parts, [Grasp((0.0, 0.0, 0.055), math.pi / 2, 0.068)])


def _vase() -> ObjectKind:
    parts = [*_octagon(0.024, 0.0, 0.070), *_octagon(0.017, 0.0, 0.120)]
    angles = (math.pi / 2, 0.0, math.pi / 4, -math.pi / 4)
    return _kind("vase", 0.3, parts, [Grasp((0.0, 0.0, 0.098), a, 0.034) for a in angles])


KINDS: dict[str, ObjectKind] = {kind.name: kind for kind in (_block(), _bowl(), _mug(), _vase(), _plate())}


def object_kind(name: str) -> ObjectKind:
    """The kind called `name`; raises InputError that lists the kinds."""
    if name not in KINDS:
        raise InputError(f"there is no object kind {name!r}; the kinds are: {', '.join(KINDS)}")
    return KINDS[name]


def parse_objects(text: str) -> tuple[ObjectSpec, ...]:
    """Reads "red block, green bowl, mug"; a second red block is called "red block 2".

    Quotes and articles (a "red block", 'mug') are passed over. Raises InputError, listing the kinds or colours, for
    anything else, and for a number that is not the one in the order.
    """
    pieces = [piece.split() for piece in re.split(r"[,;\n]", _unquoted(text.lower())) if piece.strip()]
    if not pieces:
        raise InputError(f"no object is named in {text!r}; name some, for instance: red block, green bowl, mug")
    specs = named([_parse_words(words) for words in pieces])
    for words, spec in zip(pieces, specs, strict=True):
        if words[-1].isdigit() and not spec.name.endswith(f" {words[-1]}"):
            raise InputError(
                f"{' '.join(words)!r} would be called {spec.name!r}: things that look alike are numbered in their "
                "order; leave the number out"
            )
    return specs


def _unquoted(text: str) -> str:
    return re.sub(r"[\"'`“”„‘’«»]", " ", text)


def named(things: Sequence[tuple[str, str]]) -> tuple[ObjectSpec, ...]:
    """Gives each (colour or "", kind) a unique name."""
    counts: Counter[str] = Counter()
    specs = []
    for color, kind in things:
        name = f"{color} {kind}".strip()
        counts[name] += 1
        specs.append(ObjectSpec(name if counts[name] == 1 else f"{name} {counts[name]}", kind, color))
    return tuple(specs)


def _parse_words(words: list[str]) -> tuple[str, str]:
    phrase = " ".join(words)
    while words and words[0] in _PASSED_OVER:
        words = words[1:]
    if words and words[-1].isdigit():  # "red block 2": the number follows from the order
        words = words[:-1]
    if not words or len(words) > 2:
        raise InputError(f"cannot read the object {phrase!r}; write a colour and a kind, for instance: red block")
    color, kind = (_COLOR_SPELLINGS.get(words[0], words[0]), words[1]) if len(words) == 2 else ("", words[0])
    object_kind(kind)
    if color and color not in COLORS:
        raise InputError(f"there is no colour {color!r} (in {phrase!r}); the colours are: {', '.join(COLORS)}")
    return color, kind
