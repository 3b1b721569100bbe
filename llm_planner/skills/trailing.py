"""How a base keeps its distance from something that moves: along the way to it, or back from where it comes too near.

Distances are from the base's middle to the thing's box, as `distance(robot, OBJECT)` of rules has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, dist

from llm_planner.skills.floor import Floor
from llm_planner.world.geometry import distance_to_box
from llm_planner.world.places import Point2
from llm_planner.world.scene import SceneObject

STEP = 0.05  # [m] between the places looked at on the way
DETOUR = 1.5  # times the straight line: a longer way to the thing is round a wall, from where nobody is with it
SLACK = 0.1  # [m] that it may come nearer before the base gives way
NEARER = 0.02  # [m] that it may come nearer on the way back
SHARES = (0.25, 0.5, 0.75, 1.0)  # of the way back, at which that is looked at


def without(floor: Floor, item: SceneObject) -> Floor:
    """The floor on which one can drive to the very middle of the thing: it is not in its own way."""
    things = tuple(other for other in floor.things if other.name != item.name)
    alone = replace(floor, things=things, zones=())
    zones = tuple(zone for zone in floor.zones if not replace(alone, zones=(zone,)).forbids(item.position[:2]))
    return replace(alone, zones=zones)


def way_behind(floor: Floor, way: Sequence[Point2], item: SceneObject, distance: float) -> tuple[Point2, ...]:
    """The `way` to the thing's middle, cut off where `distance` [m] are left and where rules forbid to go on.

    Where it begins nearer than that, a straight way back, as far as there is room for it.
    """
    here = way[0]
    if distance_to_box(here, item) < distance - SLACK and _is_with(way):
        return here, _place_back(floor, here, item, distance)
    left = sum(dist(a, b) for a, b in pairwise(way))
    kept, before = [here], here
    for a, b in pairwise(way):
        count = max(1, ceil(dist(a, b) / STEP))
        for k in range(count + 1):
            at = _between(a, b, k / count)
            if floor.forbids(at):
                return *kept, before
            if distance_to_box(at, item) <= distance and left - k / count * dist(a, b) <= DETOUR * dist(at, way[-1]):
                return *kept, at
            before = at
        kept.append(b)
        left -= dist(a, b)
    return tuple(kept)


def _is_with(way: Sequence[Point2]) -> bool:
    """Whether no wall is between the ends of the way."""
    return sum(dist(a, b) for a, b in pairwise(way)) <= DETOUR * dist(way[0], way[-1])


def _place_back(floor: Floor, here: Point2, item: SceneObject, distance: float) -> Point2:
    """The nearest free place of this room that is so far from the thing, or else the one farthest from it.

    The straight way there does not come nearer to the thing than `here`.
    """
    room = floor.building.room_at(*here)
    around = floor.obstacles(room, ignore=item.name)
    least = distance_to_box(here, item) - NEARER

    def is_free(place: Point2) -> bool:
        clear = not any(one.covers(place) or (one.blocks(here, place) and not one.covers(here)) for one in around)
        return clear and all(distance_to_box(_between(here, place, share), item) >= least for share in SHARES)

    def badness(place: Point2) -> tuple[float, float]:
        return round(max(0.0, distance - distance_to_box(place, item)), 1), dist(here, place)

    return min(filter(is_free, floor.places(room, here)), key=badness, default=here)


def _between(a: Point2, b: Point2, share: float) -> Point2:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
