"""A building as people name it: rooms and the doors between them, on one floor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from llm_planner.errors import InputError
from llm_planner.world.places import Point2, Rectangle


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
