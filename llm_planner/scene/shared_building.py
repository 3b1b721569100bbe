"""Two mobile bases in one building: where they start, and the rooms that they reserve.

A base is only in rooms that it has reserved (`control.zone_reservation`), with its whole footprint, so both keep apart
wherever they are in them. A doorway belongs to the two rooms that it joins: whoever passes it has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import InputError
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Building, Pose, Room
from llm_planner.scene.shared_table import Boundary
from llm_planner.scene.zones import Shape, Zone

ROBOTS = 2
TALL = 2.0  # [m] half height of the zone of a room


@dataclass(frozen=True)
class Start:
    """Base called `name`, which is also its namespace, and where it starts [m, rad, map frame]."""

    name: str
    x: float
    y: float
    yaw: float = 0.0
    robot: str = "mobile"

    @property
    def pose(self) -> Pose:
        """T_map_base."""
        return upright_pose(self.x, self.y, self.yaw)


@dataclass(frozen=True)
class SharedBuilding:
    """Two bases in one `building`, each of which has the room where it stands.

    Raises:
        InputError: There are not two bases with different names that start in different rooms.
    """

    stations: tuple[Start, ...]
    building: Building

    def __post_init__(self) -> None:
        names = [one.name for one in self.stations]
        if len(names) != ROBOTS or len(set(names)) < ROBOTS:
            raise InputError(f"a shared building needs two robots with different names, not {', '.join(names)}")
        rooms = [self.building.room_at(one.x, one.y) for one in self.stations]
        for one, room in zip(self.stations, rooms, strict=True):
            if not room:
                raise InputError(
                    f"the robot {one.name!r} at ({one.x:g}, {one.y:g}) is in no room; the rooms are: "
                    f"{', '.join(self.building.names)}"
                )
        if len(set(rooms)) < ROBOTS:
            raise InputError(f"{' and '.join(names)} start in one room, the {rooms[0]}; a room has one robot at a time")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.stations)

    def boundaries(self, name: str) -> tuple[Boundary, ...]:
        """Return a boundary for each room, which the base called `name` shares; raises InputError for other names."""
        if name not in self.names:
            raise InputError(f"there is no robot {name!r} in this building; its robots are: {', '.join(self.names)}")
        neighbour = next(one for one in self.names if one != name)
        return tuple(Boundary(room.name, neighbour, _zone(room)) for room in self.building.rooms)


def _zone(room: Room) -> Zone:
    area = room.area
    half = (area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, TALL
    return Zone(f"the {room.name}", Shape.BOX, half, Pose((*area.center, 0.0)))


def rooms_along(building: Building, points: Sequence[Point2]) -> tuple[str, ...]:
    """Return the rooms that a path through `points` [m, map frame] passes, in order."""
    return tuple(dict.fromkeys(room for point in points if (room := building.room_at(*point))))
