"""Ways through a building: straight lines inside rooms, which are convex, and from one room to the next by a door.

Lengths are metres in the frame of the building. The shortest way is Dijkstra's over the middles of the doors.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import dist

from llm_planner.errors import InputError
from llm_planner.world.building import Building, Door
from llm_planner.world.names import the
from llm_planner.world.places import Point2


@dataclass(frozen=True)
class Route:
    """A way: `points` are its corners, the start and the goal included; `rooms` are those it passes, in order."""

    points: tuple[Point2, ...]
    rooms: tuple[str, ...]

    @property
    def length(self) -> float:
        """Of the whole way [m]."""
        return sum(dist(a, b) for a, b in pairwise(self.points))


@lru_cache(maxsize=4096)  # the same few are asked for again and again while a plan is sought
def shortest_route(building: Building, start: Point2, goal: Point2) -> Route:
    """The shortest way between two points; raises InputError for a point outside, or when no doors lead there."""
    first, last = _room(building, start), _room(building, goal)
    frontier: list[tuple[float, tuple[Point2, ...], tuple[str, ...]]] = [(0.0, (start,), (first,))]
    reached: set[tuple[Point2, str]] = set()
    while frontier:
        length, points, rooms = heapq.heappop(frontier)
        if points[-1] == goal and rooms[-1] == last:
            return Route(points, rooms)
        if (points[-1], rooms[-1]) in reached:
            continue
        reached.add((points[-1], rooms[-1]))
        if rooms[-1] == last:
            heapq.heappush(frontier, (length + dist(points[-1], goal), (*points, goal), rooms))
        for door, beyond in _doors_of(building, rooms[-1]):
            further = length + dist(points[-1], door.position)
            heapq.heappush(frontier, (further, (*points, door.position), (*rooms, beyond)))
    raise InputError(f"no doors lead from {the(first)} to {the(last)}")


def rooms_along(building: Building, start: Point2, room: str) -> tuple[str, ...]:
    """The rooms passed on the shortest way from `start` to the middle of `room`, both ends included.

    Raises InputError for an unknown room, and as `shortest_route`.
    """
    return shortest_route(building, start, building.find(room).area.center).rooms


def distance(building: Building, a: Point2, b: Point2) -> float:
    """Length of the shortest way from `a` to `b` [m]; raises InputError as `shortest_route`."""
    return shortest_route(building, a, b).length


def _room(building: Building, point: Point2) -> str:
    room = building.room_at(*point)
    if not room:
        raise InputError(f"the point ({point[0]:.2f}, {point[1]:.2f}) lies outside the building")
    return room


def _doors_of(building: Building, room: str) -> Iterator[tuple[Door, str]]:
    """The doors of a room, each with the room behind it."""
    for door in building.doors:
        if room in door.rooms:
            a, b = door.rooms
            yield door, b if a == room else a
