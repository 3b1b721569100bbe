"""Put down the carried object in the current room."""

import math
from math import cos, dist, hypot, sin

from llm_planner import Base, SceneObject, Script, SkillError, SkillErrorCode
from llm_planner.robots.mobile_base import GRIP_REACH, OPEN_WIDTH
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]

DIRECTIONS = 16  # headings tried for putting an object down
DOOR_GAP = 1.0  # [m] least distance from a door at which an object is put down
WALL_GAP = 0.1  # [m] the same from a wall


def move(base: Base, arguments: Arguments) -> Script:
    """Put the held object on the floor in front, after turning and, if needed, moving to where there is space."""
    name = base.scene.held
    place, yaw = _free_front(base, base.find(name))
    yield from base.drive("make room", place)
    yield from base.turn("turn", yaw)
    yield from base.fingers("unload", OPEN_WIDTH)
    if base.scene.held:
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there was no space to put {the(name)} down")


def _free_front(base: Base, item: SceneObject) -> tuple[Point2, float]:
    """Return the position [m] and heading [rad] from which the object fits on the floor in front, away from doors.

    Prefers the nearest position, then the smallest turn. Raises SkillError (NO_FREE_SPACE).
    """
    room = base.scene.robot_room
    obstacles = base.floor.obstacles(room)
    area, radius = base.building.find(room).area, hypot(*item.size[:2]) / 2
    doors = [door.position for door in base.building.doors if room in door.rooms]
    for place in base.floor.places(room, base.position):
        if place != base.position and any(one.covers(place) for one in obstacles):
            continue
        for k in sorted(range(DIRECTIONS), key=lambda k: min(k, DIRECTIONS - k)):
            yaw = base.yaw + 2 * math.pi * k / DIRECTIONS
            front = place[0] + GRIP_REACH * cos(yaw), place[1] + GRIP_REACH * sin(yaw)
            off_doors = all(dist(front, door) > DOOR_GAP for door in doors)
            apart = all(one.distance(front) > one.radius + radius for one in obstacles if not one.firm)
            if off_doors and apart and area.contains(*front, -radius - WALL_GAP):
                return place, yaw
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no space in {the(room)} to put {the(item.name)} down")
