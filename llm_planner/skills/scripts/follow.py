"""Follow: after a person or a thing through the rooms, at a distance, and back from it where it comes nearer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import dist

from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.trailing import way_behind, without
from llm_planner.world.geometry import distance_to_box
from llm_planner.world.names import the
from llm_planner.world.places import Point2
from llm_planner.world.predicates import FOLLOWED

LEAD = 0.25  # [s] that a base which comes to rest at its goal lags behind one that goes on
CATCHING_UP = 5.0  # [s] that it may take at the end to be at the distance
LOST = 6.0  # [m] of way, beyond the distance to keep, after which it has got away


def follow(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves the base at `distance` [m] from `object`, wherever that has gone in so many `seconds`.

    Raises SkillError (OBJECT_LOST) when it leaves the scene or gets away, (NO_FREE_SPACE) where rules leave no way,
    (EFFECT_MISSING) when the base does not come to that distance in the end.
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
    """The way behind it from here, and where it is."""
    item = base.find(name)
    middle = item.position[:2]
    way = base.way(without(base.floor, item), middle)
    length = sum(dist(a, b) for a, b in pairwise(way))
    if length > distance + LOST:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} got away: it is {length:.1f} m ahead")
    return way_behind(base.floor, way, item, distance - LEAD * base.scene.speed), middle
