"""Kinds of objects on the table, and the parser of object lists.

A kind has shapes, mass and grasps. Hollow objects consist of convex boxes. An object's frame is the centre of its
bounding box, z up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from llm_planner.errors import InputError
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.scene import SceneObject, Vector3
from llm_planner.simulation.shapes import (
    FURNITURE,
    SCALE_MAX,
    SMALLEST,
    Box,
    Grasp,
    ObjectKind,
    around,
    built,
    octagon,
    prism,
    ring,
)

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
ALL_COLORS: dict[str, Vector3] = {  # including colours that are never drawn at random
    **COLORS,
    "white": (0.95, 0.95, 0.93),
    "black": (0.08, 0.08, 0.09),
}
PLAIN_COLORS: dict[str, Vector3] = {  # of objects without a colour word
    "block": (0.85, 0.68, 0.44),
    "bowl": (0.93, 0.92, 0.89),
    "mug": (0.95, 0.94, 0.91),
    "vase": (0.22, 0.47, 0.51),
    "plate": (0.96, 0.96, 0.95),
    "sponge": (0.98, 0.85, 0.35),
    "bottle": (0.18, 0.45, 0.30),
    "lamp": (0.90, 0.84, 0.68),
    "candlestick": (0.72, 0.58, 0.25),
    "shelf": (0.70, 0.60, 0.48),
    "drawer": (0.80, 0.78, 0.74),
    "button": (0.80, 0.15, 0.13),
    "stain": (0.42, 0.24, 0.12),
}
_PASSED_OVER = ("and", "a", "an", "the", "one")
_COLOR_SPELLINGS = {"grey": "gray"}


@dataclass(frozen=True)
class ObjectSpec:
    """Requested object: a unique name ("red block", "red block 2"), a kind, and a colour word or "".

    `scale` is its size relative to its kind. Raises InputError unless it is between 0.4 and 1.2.
    """

    name: str
    kind: str
    color: str
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not SMALLEST <= self.scale <= SCALE_MAX:
            raise InputError(
                f"the scale of {self.name!r} is {self.scale:g}; things come in {SMALLEST:g} to {SCALE_MAX:g} times "
                "the size of their kind"
            )

    @property
    def shape(self) -> ObjectKind:
        """Its kind at its scale. Raises InputError as `object_kind` does."""
        return object_kind(self.kind, self.scale)


def object_color(item: ObjectSpec) -> Vector3:
    """Return the display colour: red, green, blue in [0, 1]."""
    return ALL_COLORS[item.color] if item.color else PLAIN_COLORS[item.kind]


def _neck(height: float, width: float) -> list[Grasp]:
    """Return grasps of something round at that height, from four sides [m]."""
    return [Grasp((0.0, 0.0, height), yaw, width) for yaw in (math.pi / 2, 0.0, math.pi / 4, -math.pi / 4)]


_MUG_HANDLE = (
    Box((0.042, 0.0, 0.062), (0.008, 0.005, 0.005)),
    Box((0.042, 0.0, 0.022), (0.008, 0.005, 0.005)),
    Box((0.052, 0.0, 0.042), (0.005, 0.005, 0.025)),
)
_THINGS = (
    built(
        "block",
        0.06,
        [Box((0.0, 0.0, 0.02), (0.02, 0.02, 0.02))],
        [Grasp((0.0, 0.0, 0.02), math.pi / 2, 0.04), Grasp((0.0, 0.0, 0.02), 0.0, 0.04)],
    ),
    built(
        "bowl",
        0.25,
        [*octagon(0.040, 0.0, 0.005), *ring(12, 0.053, 0.060, 0.001, 0.045, 0.004)],
        around(12, 0.061, 0.035, 0.005),
    ),
    built(
        "mug",
        0.25,
        [*octagon(0.020, 0.0, 0.006), *ring(8, 0.029, 0.029, 0.001, 0.08, 0.005), *_MUG_HANDLE],
        [Grasp((0.0, 0.0, 0.055), math.pi / 2, 0.068)],
    ),
    built("vase", 0.3, [*octagon(0.024, 0.0, 0.070), *octagon(0.017, 0.0, 0.120)], _neck(0.098, 0.034)),
    built(
        "plate",
        0.3,
        [*octagon(0.047, 0.0, 0.006), *ring(12, 0.066, 0.070, 0.001, 0.016, 0.005)],
        around(12, 0.0705, 0.012, 0.006),
    ),
    built(
        "sponge",
        0.03,
        [Box((0.0, 0.0, 0.015), (0.045, 0.0275, 0.015))],
        [Grasp((0.0, 0.0, 0.018), math.pi / 2, 0.055)],
    ),
    built("bottle", 0.35, [*prism(0.032, 0.0, 0.15), *prism(0.014, 0.15, 0.22)], _neck(0.198, 0.028)),
    # The shade is too wide for fingers from above; the stem is taken from the side.
    built("lamp", 0.35, [*prism(0.055, 0.0, 0.012), *prism(0.011, 0.012, 0.20), *prism(0.06, 0.2, 0.27)], []),
    # Taller than an arm lifts its hand over things.
    built("candlestick", 0.4, [*prism(0.055, 0.0, 0.015), *prism(0.014, 0.015, 0.46)], _neck(0.435, 0.028)),
)
KINDS: dict[str, ObjectKind] = {kind.name: kind for kind in (*_THINGS, *FURNITURE)}


@lru_cache(maxsize=1024)
def object_kind(name: str, scale: float = 1.0) -> ObjectKind:
    """Return the kind called `name` at that scale. Raises InputError if it is unknown or too large for the gripper."""
    if name not in KINDS:
        raise InputError(f"there is no object kind {name!r}; the kinds are: {', '.join(KINDS)}")
    kind = KINDS[name]
    if scale > kind.scale_max:
        raise InputError(
            f"a {name} may be scaled by {SMALLEST:g} to {kind.scale_max:g}, not by {scale:g}: larger, the fingers do "
            "not get around it"
        )
    return kind if scale == 1.0 else kind.scaled(scale)


def spec_of(item: SceneObject) -> ObjectSpec:
    """Return the spec of an object like `item`, at the nearest possible scale."""
    kind = KINDS.get(item.kind)
    if kind is None:
        return ObjectSpec(item.name, item.kind, item.color)
    scale = round(item.size[1] / kind.size[1], 4)  # y: drawers slide along x
    return ObjectSpec(item.name, item.kind, item.color, min(max(scale, SMALLEST), kind.scale_max))


def in_state(item: SceneObject, state: float) -> SceneObject:
    """Return furniture in another state. A drawer's box grows by its extension."""
    kind, rows = spec_of(item).shape, rotation_matrix(item.orientation)
    moved = kind.middle_at(state)[0] - kind.middle_at(item.state)[0]
    x, y, z = (at + moved * row[0] for at, row in zip(item.position, rows, strict=True))
    return replace(item, position=(x, y, z), size=kind.size_at(state), state=state)


def parse_objects(text: str) -> tuple[ObjectSpec, ...]:
    """Parse a list such as "red block, green bowl, mug"; a second red block is called "red block 2".

    Quotes and articles (a "red block", 'mug') are ignored. Raises InputError that lists the choices for an unknown kind
    or colour, and for a number that does not match the order.
    """
    unquoted = re.sub(r"[\"'`“”„‘’«»]", " ", text.lower())
    pieces = [piece.split() for piece in re.split(r"[,;\n]", unquoted) if piece.strip()]
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


def named(things: Sequence[tuple[str, str]]) -> tuple[ObjectSpec, ...]:
    """Give each (colour or "", kind) a unique name."""
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
    if words and words[-1].isdigit():  # "red block 2"; the order determines the number
        words = words[:-1]
    if not words or len(words) > 2:
        raise InputError(f"cannot read the object {phrase!r}; write a colour and a kind, for instance: red block")
    color, kind = (_COLOR_SPELLINGS.get(words[0], words[0]), words[1]) if len(words) == 2 else ("", words[0])
    object_kind(kind)
    if color and color not in ALL_COLORS:
        raise InputError(f"there is no colour {color!r} (in {phrase!r}); the colours are: {', '.join(ALL_COLORS)}")
    return color, kind
