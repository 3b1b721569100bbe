"""Named places on the table: workspace, directions, regions and viewpoints.

Everything is in the robot's base frame [m] (REP 103: x forward, y left). Base words are directions and regions as seen
by a person behind the robot. `Viewpoint.to_base` converts the words of other speakers, so skills need only base words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from llm_planner.errors import InputError

Point2 = tuple[float, float]


@dataclass(frozen=True)
class Rectangle:
    """Axis-aligned rectangle on the table or floor [m]."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float

    @property
    def center(self) -> Point2:
        return (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2

    def contains(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Return whether (x, y) lies inside, or at most `margin` [m] outside."""
        return self.x_min - margin <= x <= self.x_max + margin and self.y_min - margin <= y <= self.y_max + margin


@dataclass(frozen=True)
class Region:
    """Named place: `area` is where its objects may lie, `anchor` is the preferred point for the first one [m]."""

    name: str
    area: Rectangle
    anchor: Point2


# Where a large arm puts things: reachable with the gripper pointing down at any yaw, with room for the fingers. Short
# arms have workspaces of their own (`Scene.workspace`).
WORKSPACE = Rectangle(x_min=0.28, x_max=0.64, y_min=-0.40, y_max=0.40)


def scale_of(workspace: Rectangle) -> float:
    """Return the size of a workspace relative to that of a large arm, at most 1: by this its things are smaller."""
    area, large = ((one.x_max - one.x_min) * (one.y_max - one.y_min) for one in (workspace, WORKSPACE))
    return min(1.0, round(math.sqrt(area / large), 2))


# Table top, as in sim/worlds/tabletop.xml; an object whose centre lies beyond it falls.
TABLE = Rectangle(x_min=-0.12, x_max=0.90, y_min=-0.58, y_max=0.58)

# Unit vectors (x, y) as seen from behind the robot, counter-clockwise from "top".
DIRECTIONS: dict[str, Point2] = {"top": (1.0, 0.0), "left": (0.0, 1.0), "bottom": (-1.0, 0.0), "right": (0.0, -1.0)}

ANY_SIDE = "any"  # the side that has room
SIDES = (*DIRECTIONS, ANY_SIDE)

# Share of the workspace's depth (x) and width (y) of a side region; fits two rows and four columns of blocks.
SIDE_SHARE_X = 0.4
SIDE_SHARE_Y = 1 / 3

_CYCLE = tuple(DIRECTIONS)
_REGION_SIDES: dict[str, tuple[str, ...]] = {
    "top left corner": ("top", "left"),
    "top right corner": ("top", "right"),
    "bottom left corner": ("bottom", "left"),
    "bottom right corner": ("bottom", "right"),
    "left side": ("left",),
    "right side": ("right",),
    "top side": ("top",),
    "bottom side": ("bottom",),
    "middle": (),
}
_SIDES_REGION = {frozenset(sides): name for name, sides in _REGION_SIDES.items()}


def _span(low: float, high: float, share: float, sides: tuple[str, ...], low_side: str, high_side: str) -> Point2:
    width = (high - low) * share
    if low_side in sides:
        return low, low + width
    if high_side in sides:
        return high - width, high
    if sides:  # a side runs along the whole edge
        return low, high
    middle = (low + high) / 2
    return middle - width / 2, middle + width / 2


REGIONS = tuple(_REGION_SIDES)


@cache
def region(name: str, workspace: Rectangle = WORKSPACE) -> Region:
    """Return the region of a workspace called `name`, as seen from behind the robot.

    Raises InputError that lists the names.
    """
    if name not in _REGION_SIDES:
        raise InputError(f"there is no place called {name!r}; the places are: {', '.join(REGIONS)}")
    sides = _REGION_SIDES[name]
    x_min, x_max = _span(workspace.x_min, workspace.x_max, SIDE_SHARE_X, sides, "bottom", "top")
    y_min, y_max = _span(workspace.y_min, workspace.y_max, SIDE_SHARE_Y, sides, "right", "left")
    area = Rectangle(x_min, x_max, y_min, y_max)
    return Region(name, area, area.center)


def direction_vector(name: str) -> Point2:
    """Return the unit vector (x, y) of a direction seen from behind the robot. Raises InputError with the choices."""
    try:
        return DIRECTIONS[name]
    except KeyError:
        raise InputError(f"{name!r} is not a direction; the directions are: {', '.join(DIRECTIONS)}") from None


@dataclass(frozen=True)
class Viewpoint:
    """Where the speaker stands: a key of `VIEWPOINTS` and the quarter turns counter-clockwise from behind the robot."""

    name: str
    quarter_turns: int

    def direction_to_base(self, word: str) -> str:
        """Convert the speaker's direction to the base word. Other words are returned unchanged."""
        if word not in DIRECTIONS:
            return word
        return _CYCLE[(_CYCLE.index(word) + self.quarter_turns) % 4]

    def to_base(self, word: str) -> str:
        """Convert the speaker's direction or region to the base word. Other words are returned unchanged."""
        if word not in _REGION_SIDES:
            return self.direction_to_base(word)
        return _SIDES_REGION[frozenset(map(self.direction_to_base, _REGION_SIDES[word]))]

    def from_base(self, word: str) -> str:
        """Convert a base word to the speaker's word; the inverse of `to_base`."""
        return Viewpoint(self.name, -self.quarter_turns).to_base(word)

    def direction(self, word: str) -> Point2:
        """Return the unit vector (x, y) of the speaker's direction, in the base frame. Raises InputError."""
        return direction_vector(self.to_base(word))

    def region(self, word: str, workspace: Rectangle = WORKSPACE) -> Region:
        """Return the region of a workspace that the speaker means. Raises InputError."""
        return region(self.to_base(word), workspace)


VIEWPOINTS: dict[str, Viewpoint] = {
    "behind": Viewpoint("behind", 0),
    "facing": Viewpoint("facing", 2),
    "left": Viewpoint("left", 3),  # at the robot's left, looking to its right
    "right": Viewpoint("right", 1),
}
BEHIND = VIEWPOINTS["behind"]


def viewpoint(name: str) -> Viewpoint:
    """Return the viewpoint called `name`. Raises InputError that lists the names."""
    try:
        return VIEWPOINTS[name]
    except KeyError:
        raise InputError(f"{name!r} is not a viewpoint; choose one of: {', '.join(VIEWPOINTS)}") from None
