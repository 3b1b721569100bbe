"""The scene: what is where, at one moment, as the simulator or perception measured it.

All positions are metres in the robot's base frame (REP 103: x forward, y left, z up; the table top is z = 0).
Orientations are unit quaternions (x, y, z, w), as in ROS messages and scipy.

A building as people name it: rooms and the doors between them, on one floor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from llm_planner.errors import InputError
from llm_planner.scene.places import Point2, Rectangle

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # (x, y, z, w)

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Pose:
    """A rigid pose: position [m] and orientation (x, y, z, w), frame given by the field that holds it."""

    position: Vector3
    orientation: Quaternion = IDENTITY


@dataclass(frozen=True)
class SceneObject:
    """One thing on the table.

    `name` is unique in the scene and is what programs and people call it ("red block"); `kind` is its noun
    ("block"); `color` is one colour word or "" where it has none. `position` is the centre of its bounding box in the
    base frame [m]; `size` is the full extent of that box along the object's own axes [m]. `state` is what has
    been done to furniture: how far a drawer is out [m], 1 once a button's lamp is lit, the share of a stain that is
    left.
    """

    name: str
    kind: str
    color: str
    position: Vector3
    orientation: Quaternion
    size: Vector3
    state: float = 0.0


@dataclass(frozen=True)
class Scene:
    """Everything measured at one `time` [s]. `held` names the object that the robot holds, or is "".

    `robot` is the point between an arm's fingertips or the base of a mobile robot, None where nobody measures it. Its
    `speed` is in [m/s]. `building` has the rooms around a mobile robot; an arm at a table has none.
    `reports` are sentences of the robot about itself, such as what its tracking errors say.
    """

    time: float
    objects: tuple[SceneObject, ...]
    held: str = ""
    robot: Pose | None = None
    speed: float = 0.0
    building: Building | None = None
    reports: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.objects)

    @property
    def robot_kind(self) -> str:
        """Which skills fit the robot: "mobile" in a building, else "arm"."""
        return "mobile" if self.building else "arm"

    @property
    def robot_room(self) -> str:
        """The room in which a mobile robot is; "" for an arm, and outside."""
        return self.building.room_at(*self.robot.position[:2]) if self.building and self.robot else ""

    def with_object(self, item: SceneObject) -> Scene:
        """The scene with `item` in the place of the object of that name."""
        return replace(self, objects=tuple(item if other.name == item.name else other for other in self.objects))

    def find(self, name: str) -> SceneObject:
        """The object called `name`; raises KeyError that lists the valid names."""
        for item in self.objects:
            if item.name == name:
                return item
        raise KeyError(f"no object is called {name!r} here; the scene holds: {', '.join(self.names) or 'nothing'}")


@dataclass(frozen=True)
class Room:
    """A named room and the floor that it takes [m, world frame]."""

    name: str
    area: Rectangle


@dataclass(frozen=True)
class Door:
    """An opening between two rooms; `position` is its middle [m, world frame]."""

    rooms: tuple[str, str]
    position: Point2


@dataclass(frozen=True)
class Building:
    """Rooms that do not overlap, and doors between neighbours."""

    rooms: tuple[Room, ...]
    doors: tuple[Door, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Worked out once: ways through a building are kept by it."""
        return hash((self.rooms, self.doors))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(room.name for room in self.rooms)

    def find(self, name: str) -> Room:
        """The room called `name`; raises InputError that lists the rooms."""
        for room in self.rooms:
            if room.name == name:
                return room
        raise InputError(f"there is no room {name!r}; the rooms are: {', '.join(self.names) or 'none'}")

    def room_at(self, x: float, y: float) -> str:
        """The room around a point of the floor, "" outside the building."""
        for room in self.rooms:  # asked for at every moment of a plan, of everything in it
            if room.area.contains(x, y):
                return room.name
        return ""

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Rooms that a door leads to from this one, in the order of the doors."""
        sides = [door.rooms for door in self.doors if name in door.rooms]
        return tuple(dict.fromkeys(b if a == name else a for a, b in sides))
