"""Several arms at one table: where they stand, and which side of the table belongs to which arm.

Between two arms lies a strip, in the middle between their bases and as wide as the table's `strip`. Each arm keeps out
of everything beyond its own edge of the strip. While it has reserved the strip (`control.zone_reservation`) it keeps
out of everything beyond the far edge instead. The strip can be reserved by one arm at a time, so at every moment a gap
or a plane lies between two arms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from llm_planner.errors import InputError
from llm_planner.scene.geometry import compose, inverse, upright_pose
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

EXTENT = 20.0  # [m] half size of the boxes that stand for half spaces
SPARE = 0.01  # [m] by which each arm stays on its side of an edge
NEAREST = 0.3  # [m] between two bases, beyond the strip
STRIP = 0.36  # [m] default width of the strip: a hand has room on either side of its middle


@dataclass(frozen=True)
class Station:
    """Arm called `name`, which is also its namespace, of the model `robot` (name or folder); base [m, rad, table]."""

    name: str
    robot: str
    x: float
    y: float
    yaw: float = 0.0

    @property
    def base(self) -> Pose:
        """T_table_base."""
        return upright_pose(self.x, self.y, self.yaw)


@dataclass(frozen=True)
class Boundary:
    """Boundary of a robot towards `neighbour`, in the frame of the robot's scene.

    Attributes:
        strip: Name of what either may reserve, the same for both: the strip between two arms, or a room.
        neighbour: Name of the other robot.
        near: What is forbidden without a reservation: everything beyond an arm's own edge of the strip, or the room.
        far: What is always forbidden: everything beyond the far edge of the strip; None for a room.
    """

    strip: str
    neighbour: str
    near: Zone
    far: Zone | None = None


@dataclass(frozen=True)
class SharedTable:
    """Arms at one table, with a `strip` [m] between two that either may reserve; 0 splits the table for good.

    Raises:
        InputError: Names repeat, bases are too close, or the strip leaves no room for a base.
    """

    stations: tuple[Station, ...]
    strip: float = STRIP

    def __post_init__(self) -> None:
        names = [one.name for one in self.stations]
        if len(names) < 2 or len(set(names)) < len(names):
            raise InputError(f"a shared table needs two or more robots with different names, not {', '.join(names)}")
        if not 0.0 <= self.strip <= 2.0:
            raise InputError(f"the strip between two robots is 0 to 2 m wide, not {self.strip:g} m")
        for a, b in combinations(self.stations, 2):
            apart, least = math.hypot(a.x - b.x, a.y - b.y), NEAREST + self.strip
            if apart < least:
                raise InputError(
                    f"the robots {a.name!r} and {b.name!r} stand {apart:g} m apart; with a strip of {self.strip:g} m "
                    f"between them it must be {least:g} m or more: move them apart, or make the strip narrower"
                )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.stations)

    def find(self, name: str) -> Station:
        """Return the station called `name`; raises InputError that lists them."""
        for one in self.stations:
            if one.name == name:
                return one
        raise InputError(f"there is no robot {name!r} at this table; its robots are: {', '.join(self.names)}")

    def boundaries(self, name: str) -> tuple[Boundary, ...]:
        """Return the boundaries of the arm called `name` towards all others; raises InputError for other names."""
        own = self.find(name)
        return tuple(self._boundary(own, other) for other in self.stations if other is not own)

    def off_limits(self, name: str) -> tuple[Zone, ...]:
        """Return what the arm called `name` never enters, in its base frame."""
        return tuple(one.far for one in self.boundaries(name) if one.far)

    def room(self, name: str, x: float, y: float, reserved: bool) -> float:
        """Return the distance [m] of (x, y) [m, table] from where the arm called `name` may not be, negative inside.

        `reserved` says whether it has reserved the strips between it and the others.
        """
        own = self.find(name)
        edge = (self.strip / 2 if reserved else -self.strip / 2) - SPARE
        return min(edge - _past_middle(own, other, x, y) for other in self.stations if other is not own)

    def _boundary(self, own: Station, other: Station) -> Boundary:
        heading = math.atan2(other.y - own.y, other.x - own.x)
        middle = upright_pose((own.x + other.x) / 2, (own.y + other.y) / 2, heading)  # x towards the other arm
        to_base = inverse(own.base)

        def beyond(edge: float, name: str) -> Zone:
            center = compose(middle, Pose((edge - SPARE + EXTENT, 0.0, 0.0)))
            return Zone(name, Shape.BOX, (EXTENT, EXTENT, EXTENT), compose(to_base, center))

        strip = " and ".join(sorted((own.name, other.name)))
        near = beyond(-self.strip / 2, f"the strip between {strip}")
        return Boundary(strip, other.name, near, beyond(self.strip / 2, f"the side of {other.name}"))


def _past_middle(own: Station, other: Station, x: float, y: float) -> float:
    """Return how far (x, y) is beyond the middle between two arms, on the side of `other` [m]."""
    dx, dy = other.x - own.x, other.y - own.y
    return ((x - (own.x + other.x) / 2) * dx + (y - (own.y + other.y) / 2) * dy) / math.hypot(dx, dy)


def table_bounds(stations: Sequence[Station], x: tuple[float, float], y: tuple[float, float]) -> tuple[float, ...]:
    """Return x_min, x_max, y_min, y_max [m, table frame] around the rectangle `x`, `y` [m] in front of each arm."""
    corners = [compose(one.base, Pose((a, b, 0.0))).position for one in stations for a in x for b in y]
    xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return min(xs), max(xs), min(ys), max(ys)
