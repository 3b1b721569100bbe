"""How a base keeps its distance from something that moves: along the way to it, or back from where it comes too near.

Distances are from the base's middle to the thing's box, as `distance(robot, OBJECT)` of rules has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import atan2, ceil, cos, dist, pi, sin

from llm_planner.skills.floor import Floor
from llm_planner.world.geometry import distance_to_box
from llm_planner.world.places import Point2
from llm_planner.world.scene import SceneObject

STEP = 0.05  # [m] between the places looked at on the way
DETOUR = 1.5  # times the straight line: a longer way to the thing is round a wall, from where nobody is with it
SLACK = 0.1  # [m] that it may come nearer before the base gives way
SIDES = 16  # ways back


def without(floor: Floor, item: SceneObject) -> Floor:
    """The floor on which one can drive to the very middle of the thing: it is not in its own way."""
    things = tuple(other for other in floor.things if other.name != item.name)
    alone = replace(floor, things=things, zones=())
    zones = tuple(zone for zone in floor.zones if not replace(alone, zones=(zone,)).forbids(item.position[:2]))
    return replace(alone, zones=zones)


def way_behind(floor: Floor, way: Sequence[Point2], item: SceneObject, distance: float) -> tuple[Point2, ...]:
    """The `way` to the thing's middle, cut off where `distance` [m] are left and where rules forbid to go on.

    Where it begins nearer than that, a straight way back, or none where there is no room for it.
    """
    here = way[0]
    if distance_to_box(here, item) < distance - SLACK and _is_with(way):
        return here, next(_places_back(floor, here, item, distance), here)
    left = sum(dist(a, b) for a, b in pairwise(way))
    kept, before = [here], here
    for a, b in pairwise(way):
        count = max(1, ceil(dist(a, b) / STEP))
        for k in range(count + 1):
            at = a[0] + k / count * (b[0] - a[0]), a[1] + k / count * (b[1] - a[1])
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


def _places_back(floor: Floor, here: Point2, item: SceneObject, distance: float) -> Iterator[Point2]:
    """Free places in the room at that distance from the thing, on the near side of it, straight back first."""
    x, y, _ = item.position
    room = floor.building.room_at(*here)
    area, obstacles = floor.area(room), floor.obstacles(room, ignore=item.name)
    back = atan2(here[1] - y, here[0] - x)
    away = distance + dist(here, (x, y)) - distance_to_box(here, item)
    for k in sorted(range(-SIDES // 4, SIDES // 4 + 1), key=abs):
        angle = back + 2 * pi * k / SIDES
        place = x + away * cos(angle), y + away * sin(angle)
        if area.contains(*place) and not any(one.covers(place) for one in obstacles):
            yield place
