"""Follow a person or an object that moves through the rooms, at a distance, for some time."""

from collections.abc import Sequence
from itertools import pairwise
from math import dist

from llm_planner import Base, Script, SkillError, SkillErrorCode
from llm_planner.scene.geometry import distance_to_box
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import FOLLOWED
from llm_planner.skills.contract import Arguments
from llm_planner.skills.floor_paths import way_behind, without
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]

LEAD = 0.25  # [s] lag of a base whose path ends at rest, compensated by a goal that is closer
CATCHING_UP = 5.0  # [s] allowed at the end to reach the distance
LOST = 6.0  # [m] path length beyond the distance to keep at which the object counts as lost


def move(base: Base, arguments: Arguments) -> Script:
    """Follow `object` for `seconds` [s] and end at `distance` [m] from it.

    Raises SkillError (OBJECT_LOST) if the object leaves the scene or gets away, (NO_FREE_SPACE) if rules block all
    paths, (EFFECT_MISSING) if the base does not reach the distance at the end.
    """
    name = str(arguments["object"])
    distance, seconds = (float(str(arguments[key])) for key in ("distance", "seconds"))
    yield from base.pursue("follow", seconds, lambda: _course(base, name, distance))
    ended = base.observation.time
    while abs(left := distance_to_box(base.position, base.find(name)) - distance) > FOLLOWED:
        if base.observation.time > ended + CATCHING_UP:
            message = f"the robot is {distance + left:.2f} m from {the(name)} in the end, not {distance:g} m"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        yield from base.pursue("catch up", PATH_DT, lambda: _course(base, name, distance))


def _course(base: Base, name: str, distance: float) -> tuple[Sequence[Point2], Point2]:
    """Return the path from here to the place behind the object, and the object's centre [m]."""
    item = base.find(name)
    middle = item.position[:2]
    way = base.way(without(base.floor, item), middle)
    length = sum(dist(a, b) for a, b in pairwise(way))
    if length > distance + LOST:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} got away: it is {length:.1f} m ahead")
    return way_behind(base.floor, way, item, distance - LEAD * base.scene.speed), middle
