"""Scripts of a mobile robot: go to, pick up, drop off, look, dock, follow.

`dock` stops in front of the station, turns its back to it and reverses in slowly. `follow` keeps a distance from a
person or an object that moves through the rooms, and backs away if it comes closer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, dist, hypot, radians, sin

from llm_planner.programs.values import Argument
from llm_planner.robots.mobile_base import CLOSED_WIDTH, GRIP_REACH, OPEN_WIDTH
from llm_planner.scene.driven_base import within_reach
from llm_planner.scene.furniture import docked, docking_pose
from llm_planner.scene.geometry import distance_to_box, yaw_of
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import FOLLOWED
from llm_planner.scene.scene import SceneObject
from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.floor_paths import way_behind, without
from llm_planner.skills.mobile_arm import MobileArm, parking
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.scripts.basic import go_home

DIRECTIONS = 16  # headings tried for putting an object down
LOOK_TURNS = 4  # quarter turns
DOOR_GAP = 1.0  # [m] least distance from a door at which an object is put down
WALL_GAP = 0.1  # [m] the same from a wall


def go_to(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Drive to the middle of the room `destination`, or up to the person or object of that name, and face it."""
    destination = str(arguments["destination"])
    if destination in base.building.names:
        yield from base.drive("drive", base.floor.middle(destination))
        return
    if destination == base.scene.held:
        return
    item = base.find(destination)
    yield from _approach(base, item)


def pick_up(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Drive up to `object` and load it onto the tray."""
    name = str(arguments["object"])
    yield from base.fingers("open", OPEN_WIDTH)
    yield from _approach(base, base.find(name))
    yield from base.fingers("load", CLOSED_WIDTH)
    if base.scene.held != name:
        raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed without taking hold of {the(name)}")


def drop_off(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Put the held object on the floor in front, after turning and, if needed, moving to where there is space."""
    name = base.scene.held
    place, yaw = _free_front(base, base.find(name))
    yield from base.drive("make room", place)
    yield from base.turn("turn", yaw)
    yield from base.fingers("unload", OPEN_WIDTH)
    if base.scene.held:
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there was no space to put {the(name)} down")


def look(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Turn once on the spot."""
    start = base.yaw
    for quarter in range(1, LOOK_TURNS + 1):
        yield from base.turn("look", start + quarter * math.pi / 2)


def _approach(base: Base, item: SceneObject) -> Script:
    """Drive to a free place beside the object and turn to it."""
    x, y, _ = item.position
    yield from base.drive("approach", base.floor.beside(item))
    yield from base.turn("turn", math.atan2(y - base.position[1], x - base.position[0]))


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


BEFORE = 0.6  # [m] in front of its docked pose, where the base stops and turns
SPEED = 0.15  # [m/s]
ALIGNED, FACING = 0.01, radians(1.0)  # [m], [rad] tolerance of the pose before the base reverses in
ARRIVED = 0.008  # [m]
TRIES = 3


def dock(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Reverse the base into `station`.

    Raises SkillError (UNREACHABLE, NO_FREE_SPACE; EFFECT_MISSING if the final pose is off).
    """
    name = str(arguments["station"])
    for _ in range(TRIES):
        station = base.find(name)
        if docked(base.scene, name):
            return
        before = docking_pose(station, BEFORE)
        if dist(base.position, before.position[:2]) > base.settings.arrived:
            yield from base.drive("approach", before.position[:2])
        yield from base.turn("turn", yaw_of(before))
        yield from base.creep("align", before, SPEED, ALIGNED, FACING)
        yield from base.creep("back in", docking_pose(base.find(name)), SPEED, ARRIVED, FACING)
        yield from base.rest("settle", base.settings.fingers_time)
    if not docked(base.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"the robot does not stand in {the(name)} as it should")


LEAD = 0.25  # [s] lag of a base whose path ends at rest, compensated by a goal that is closer
CATCHING_UP = 5.0  # [s] allowed at the end to reach the distance
LOST = 6.0  # [m] path length beyond the distance to keep at which the object counts as lost


def follow(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Follow `object` for `seconds` [s] and end at `distance` [m] from it.

    Raises SkillError (OBJECT_LOST) if the object leaves the scene or gets away, (NO_FREE_SPACE) if rules block all
    paths, (EFFECT_MISSING) if the base does not reach the distance at the end.
    """
    name, distance, seconds = str(arguments["object"]), _number(arguments, "distance"), _number(arguments, "seconds")
    yield from base.pursue("follow", seconds, lambda: _course(base, name, distance))
    ended = base.observation.time
    while abs(left := distance_to_box(base.position, base.find(name)) - distance) > FOLLOWED:
        if base.observation.time > ended + CATCHING_UP:
            message = f"the robot is {distance + left:.2f} m from {the(name)} in the end, not {distance:g} m"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        yield from base.pursue("catch up", PATH_DT, lambda: _course(base, name, distance))


def _number(arguments: Mapping[str, Argument], name: str) -> float:
    return float(str(arguments[name]))


def _course(base: Base, name: str, distance: float) -> tuple[Sequence[Point2], Point2]:
    """Return the path from here to the place behind the object, and the object's centre [m]."""
    item = base.find(name)
    middle = item.position[:2]
    way = base.way(without(base.floor, item), middle)
    length = sum(dist(a, b) for a, b in pairwise(way))
    if length > distance + LOST:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} got away: it is {length:.1f} m ahead")
    return way_behind(base.floor, way, item, distance - LEAD * base.scene.speed), middle


SETTLE = 0.3  # [s] for arm or base to come to rest before the other moves


def approach(robot: MobileArm, arguments: Mapping[str, Argument]) -> Script:
    """Tuck the arm, leave the table, drive to where the arm reaches `object`, and face the table there."""
    name = str(arguments["object"])
    if within_reach(robot.observation.scene, name):
        return
    place = parking(robot.observation.scene, name, robot.observation.zones)
    yield from go_home(robot.arm, {})
    yield from robot.arm.rest("settle", SETTLE)
    robot.drives()
    yield from robot.base.back_off()
    yield from robot.base.park(place)
    yield from robot.base.rest("settle", SETTLE)
    if not within_reach(robot.observation.scene, name):
        raise SkillError(SkillErrorCode.UNREACHABLE, f"the base stands where the arm does not reach {the(name)}")
