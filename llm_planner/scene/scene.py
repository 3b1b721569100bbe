"""The scene: objects, robot and building at one moment, as measured by the simulator or perception.

Positions are in metres in the robot's base frame (REP 103: x forward, y left, z up; the table top is z = 0), or the map
frame in a building. The frame of an arm on a mobile base moves along with the base. Orientations are unit quaternions
(x, y, z, w), as in ROS messages and scipy. A building consists of named rooms and the doors between them, on one floor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.scene.places import WORKSPACE, Point2, Rectangle, Region, region, scale_of

if TYPE_CHECKING:
    from llm_planner.scene.zones import Zone

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # (x, y, z, w)

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Pose:
    """Rigid pose: position [m] and orientation (x, y, z, w), in the frame that the containing field states."""

    position: Vector3
    orientation: Quaternion = IDENTITY


@dataclass(frozen=True)
class SceneObject:
    """One object in the scene.

    Attributes:
        name: Unique name that programs and people use ("red block").
        kind: Noun of the name ("block").
        color: One colour word, "" for none.
        position: Centre of the bounding box [m, base frame].
        orientation: Unit quaternion (x, y, z, w).
        size: Full extent of the bounding box along the object's own axes [m].
        state: State of furniture: extension of a drawer [m], 1 for a lit button, remaining share of a stain.
    """

    name: str
    kind: str
    color: str
    position: Vector3
    orientation: Quaternion
    size: Vector3
    state: float = 0.0


@dataclass(frozen=True)
class DrivenBase:
    """Mobile base that carries an arm, and stands where the arm works.

    Attributes:
        pose: T_map_base: the centre of the base, x forward, at the height of the arm's base [m, map frame].
        mount: Distance of the arm's axis in front of that centre [m].
        reach: Least and largest distance from the arm's axis at which the hand reaches a table [m].
        building: Rooms that it drives in [map frame].
    """

    pose: Pose
    mount: float
    reach: tuple[float, float]
    building: Building


@dataclass(frozen=True)
class Scene:
    """Everything measured at one time.

    Attributes:
        time: Time of the measurement [s].
        objects: Objects in the scene.
        held: Name of the held object, "" for none.
        robot: Pose of the point between an arm's fingertips or of a mobile base; None if it is not measured.
        speed: Speed of the robot [m/s].
        building: Rooms around a mobile robot; None for an arm at a table.
        reports: Sentences of the robot about itself, for example about its tracking errors.
        arm: Name of the arm that the scene shows, "arm" for the default one; `robots.arm_shape` returns its reach and
            rest position.
        workspace: Part of the table on which that arm puts things [m, base frame].
        off_limits: Regions that the robot never enters, such as the side of another arm at its table.
        base: Mobile base that carries the arm; None for an arm that stands fixed. The frame moves with the base.
    """

    time: float
    objects: tuple[SceneObject, ...]
    held: str = ""
    robot: Pose | None = None
    speed: float = 0.0
    building: Building | None = None
    reports: tuple[str, ...] = ()
    arm: str = "arm"
    workspace: Rectangle = WORKSPACE
    off_limits: tuple[Zone, ...] = ()
    base: DrivenBase | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.objects)

    @property
    def robot_kind(self) -> str:
        """Kind of robot that selects the skills: "mobile" in a building, otherwise "arm"."""
        return "mobile" if self.building else "arm"

    @property
    def robot_room(self) -> str:
        """Room of a mobile robot; "" for an arm, and outside the building."""
        return self.building.room_at(*self.robot.position[:2]) if self.building and self.robot else ""

    @property
    def scale(self) -> float:
        """Size of the workspace and its things relative to those of a large arm, at most 1."""
        return scale_of(self.workspace)

    def region(self, name: str) -> Region:
        """Return the region of the table called `name`. Raises InputError that lists the names."""
        return region(name, self.workspace)

    def with_object(self, item: SceneObject) -> Scene:
        """Return the scene with `item` in place of the object of the same name."""
        return replace(self, objects=tuple(item if other.name == item.name else other for other in self.objects))

    def find(self, name: str) -> SceneObject:
        """Return the object called `name`. Raises KeyError that lists the valid names."""
        for item in self.objects:
            if item.name == name:
                return item
        raise KeyError(f"no object is called {name!r} here; the scene holds: {', '.join(self.names) or 'nothing'}")


@dataclass(frozen=True)
class Room:
    """Named room and its floor area [m, map frame]."""

    name: str
    area: Rectangle


@dataclass(frozen=True)
class Door:
    """Opening between two rooms; `position` is its centre [m, map frame]."""

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
        """Hash computed once, since caches of routes use the building as key."""
        return hash((self.rooms, self.doors))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(room.name for room in self.rooms)

    def find(self, name: str) -> Room:
        """Return the room called `name`. Raises InputError that lists the rooms."""
        for room in self.rooms:
            if room.name == name:
                return room
        raise InputError(f"there is no room {name!r}; the rooms are: {', '.join(self.names) or 'none'}")

    def room_at(self, x: float, y: float) -> str:
        """Return the room that contains the point, "" outside the building."""
        for room in self.rooms:  # called for every object at every moment of a plan
            if room.area.contains(x, y):
                return room.name
        return ""

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the rooms that the doors of this one lead to, in the order of the doors."""
        return tuple(dict.fromkeys(beyond for _, beyond in self.doors_of(name)))

    def doors_of(self, name: str) -> Iterator[tuple[Door, str]]:
        """Yield the doors of a room, each with the room behind it."""
        for door in self.doors:
            if name in door.rooms:
                a, b = door.rooms
                yield door, b if a == name else a
