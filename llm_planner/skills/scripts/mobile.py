"""The skills of a mobile robot: go to, pick up, drop off, look."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import cos, dist, hypot, sin

from llm_planner.simulation.rooms.base import CLOSED_WIDTH, GRIP_REACH, OPEN_WIDTH
from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.world.names import the
from llm_planner.world.places import Point2
from llm_planner.world.scene import SceneObject

DIRECTIONS = 16  # in which a thing is put down
LOOK_TURNS = 4  # quarter turns
DOOR_GAP = 1.0  # [m] from a door, and from a wall, within which nothing is put down
WALL_GAP = 0.1


def go_to(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves the base in the middle of the room `destination`, or facing the person or thing of that name."""
    destination = str(arguments["destination"])
    if destination in base.building.names:
        yield from base.drive("drive", base.floor.middle(destination))
        return
    if destination == base.scene.held:
        return
    item = base.find(destination)
    yield from _approach(base, item)


def pick_up(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` on the tray."""
    name = str(arguments["object"])
    yield from base.fingers("open", OPEN_WIDTH)
    yield from _approach(base, base.find(name))
    yield from base.fingers("load", CLOSED_WIDTH)
    if base.scene.held != name:
        raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed without taking hold of {the(name)}")


def drop_off(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves what is held on the floor in front, turned to where there is space; moves on a little if there is none."""
    name = base.scene.held
    place, yaw = _free_front(base, base.find(name))
    yield from base.drive("make room", place)
    yield from base.turn("turn", yaw)
    yield from base.fingers("unload", OPEN_WIDTH)
    if base.scene.held:
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there was no space to put {the(name)} down")


def look(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Once around on the spot."""
    start = base.yaw
    for quarter in range(1, LOOK_TURNS + 1):
        yield from base.turn("look", start + quarter * math.pi / 2)


def _approach(base: Base, item: SceneObject) -> Script:
    """To a free place beside the thing, and turned to it."""
    x, y, _ = item.position
    yield from base.drive("approach", base.floor.beside(item))
    yield from base.turn("turn", math.atan2(y - base.position[1], x - base.position[0]))


def _free_front(base: Base, item: SceneObject) -> tuple[Point2, float]:
    """Where to stand and which way to face [rad], so that the thing fits on the floor in front, off the doors.

    As near as possible, and turning as little; raises SkillError (NO_FREE_SPACE).
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
