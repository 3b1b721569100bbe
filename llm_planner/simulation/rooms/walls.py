"""The walls of a building as straight pieces, with gaps where the doors are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from llm_planner.simulation.rooms.plan import DOOR_WIDTH, shared_wall
from llm_planner.world.building import Building
from llm_planner.world.places import Point2

Interval = tuple[float, float]


@dataclass(frozen=True)
class Wall:
    """A straight piece of wall along x (`axis` 0) or y (1): its middle and its half length [m]."""

    axis: int
    center: Point2
    half_length: float


def walls(building: Building) -> tuple[Wall, ...]:
    """Every wall once, also where rooms share it."""
    lines: dict[tuple[int, float], list[Interval]] = defaultdict(list)
    for room in building.rooms:
        area = room.area
        for y in (area.y_min, area.y_max):
            lines[0, y].append((area.x_min, area.x_max))
        for x in (area.x_min, area.x_max):
            lines[1, x].append((area.y_min, area.y_max))
    gaps: dict[tuple[int, float], list[Interval]] = defaultdict(list)
    for door in building.doors:
        axis, across, _, _ = shared_wall(*(building.find(name).area for name in door.rooms))
        middle = door.position[axis]
        gaps[axis, across].append((middle - DOOR_WIDTH / 2, middle + DOOR_WIDTH / 2))
    return tuple(
        _wall(axis, across, low, high)
        for (axis, across), pieces in lines.items()
        for low, high in _without(_joined(pieces), gaps[axis, across])
    )


def _wall(axis: int, across: float, low: float, high: float) -> Wall:
    along = (low + high) / 2
    return Wall(axis, (along, across) if axis == 0 else (across, along), (high - low) / 2)


def _joined(pieces: list[Interval]) -> list[Interval]:
    """The same line in as few pieces as possible."""
    joined: list[Interval] = []
    for low, high in sorted(pieces):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def _without(pieces: list[Interval], gaps: list[Interval]) -> list[Interval]:
    """What is left of the pieces; every gap lies within one of them."""
    left = []
    for low, high in pieces:
        cuts = [edge for gap in sorted(gaps) if low <= gap[0] and gap[1] <= high for edge in gap]
        ends = [low, *cuts, high]
        left += [piece for k, piece in enumerate(pairwise(ends)) if k % 2 == 0]
    return left
