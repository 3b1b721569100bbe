"""Floor plans drawn from a seed: halls in the middle, rooms on both sides, and doors with alternative routes.

The module also splits the walls into straight pieces with gaps at the doors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from llm_planner.errors import InputError
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.scene import Building, Door, Room

ROOMS_MIN, ROOMS_MAX = 8, 12
ROOM_NAMES = (
    "kitchen", "lab", "office", "server room", "library", "storage", "workshop", "meeting room", "canteen", "archive",
)  # fmt: skip
HALLS = ("hall", "lobby")  # two, so that one can be bypassed through the other
DOOR_WIDTH = 1.1  # [m]
CORNER = 0.35  # [m] of wall between a door and the end of its wall
DEPTH = (4.0, 5.0)  # [m] of the rooms on either side
HALL_DEPTH = (2.4, 3.0)
WIDTH = 4.4  # [m] of an average room, along the hall
UNEVENNESS = 0.25  # largest relative deviation of a room's width from the mean
EXTRA_DOORS = 0.7  # probability of a door that connectivity does not need


def draw_building(rooms: int, rng: np.random.Generator) -> Building:
    """Draw a building of `rooms` connected rooms, centred at (0, 0). Raises InputError unless there are 8 to 12."""
    if not ROOMS_MIN <= rooms <= ROOMS_MAX:
        raise InputError(f"a building has {ROOMS_MIN} to {ROOMS_MAX} rooms, not {rooms}")
    others = [str(name) for name in rng.permutation(ROOM_NAMES)[: rooms - len(HALLS)]]
    north = len(others) // 2 + int(len(others) % 2 and rng.random() < 0.5)
    length = WIDTH * len(others) / 2
    front, middle, back = rng.uniform(*DEPTH), rng.uniform(*HALL_DEPTH), rng.uniform(*DEPTH)
    edges = np.cumsum([-(front + middle + back) / 2, front, middle, back])
    rows = (others[north:], list(HALLS), others[:north])
    plan = tuple(
        room
        for names, (low, high) in zip(rows, pairwise(edges.tolist()), strict=True)
        for room in _row(names, length, low, high, rng)
    )
    return Building(plan, _draw_doors(plan, rng))


def _row(names: Sequence[str], length: float, low: float, high: float, rng: np.random.Generator) -> list[Room]:
    """Place rooms side by side along the building, between two values of y [m]."""
    shares = 1.0 + rng.uniform(-UNEVENNESS, UNEVENNESS, len(names))
    edges = np.round(length * (np.cumsum([0.0, *shares]) / shares.sum() - 0.5), 3).tolist()
    low, high = round(low, 3), round(high, 3)
    return [Room(name, Rectangle(a, b, low, high)) for name, (a, b) in zip(names, pairwise(edges), strict=True)]


def _draw_doors(rooms: Sequence[Room], rng: np.random.Generator) -> tuple[Door, ...]:
    """Draw doors that connect all rooms, and some more for alternative routes."""
    margin = DOOR_WIDTH / 2 + CORNER
    shared = [(a, b, *shared_wall(a.area, b.area)) for a, b in combinations(rooms, 2)]
    walls = [wall for wall in shared if wall[-1] - wall[-2] >= 2 * margin]  # with space for a door
    reached = {room.name: room.name for room in rooms}  # connected component of each room
    doors = []
    for index in rng.permutation(len(walls)):
        a, b, axis, across, low, high = walls[index]
        needed = reached[a.name] != reached[b.name]
        if needed or rng.random() < EXTRA_DOORS:
            along = round(float(rng.uniform(low + margin, high - margin)), 3)
            doors.append(Door((a.name, b.name), (along, across) if axis == 0 else (across, along)))
            old, new = reached[b.name], reached[a.name]
            reached = {name: new if group == old else group for name, group in reached.items()}
    return tuple(doors)


def shared_wall(a: Rectangle, b: Rectangle) -> tuple[int, float, float, float]:
    """Return the wall between two rooms: axis along which it runs (0: x, 1: y), position across it, and ends [m].

    The ends are in reverse order if the rooms do not touch.
    """
    xs, ys = (max(a.x_min, b.x_min), min(a.x_max, b.x_max)), (max(a.y_min, b.y_min), min(a.y_max, b.y_max))
    if ys[0] == ys[1]:
        return 0, ys[0], *xs
    if xs[0] == xs[1]:
        return 1, xs[0], *ys
    return 0, 0.0, 0.0, -1.0


def checked_building(rooms: tuple[Room, ...], doors: tuple[Door, ...]) -> Building:
    """Return the building; raises InputError if rooms overlap or have one name, or a door is in no shared wall."""
    for a, b in combinations(rooms, 2):
        if a.name == b.name:
            raise InputError(f"two rooms are called {a.name!r}; give each its own name")
        if _overlap(a.area, b.area):
            raise InputError(f"the rooms {a.name!r} and {b.name!r} overlap; rooms may only share walls")
    building = Building(rooms, doors)
    for door in building.doors:
        _check_door(building, door)
    return building


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    wide = min(a.x_max, b.x_max) - max(a.x_min, b.x_min)
    deep = min(a.y_max, b.y_max) - max(a.y_min, b.y_min)
    return wide > 1e-6 and deep > 1e-6


def _check_door(building: Building, door: Door) -> None:
    a, b = (building.find(name).area for name in door.rooms)
    axis, across, low, high = shared_wall(a, b)
    along, off = door.position[axis], door.position[1 - axis] - across
    if abs(off) > 0.01 or not low + DOOR_WIDTH / 2 <= along <= high - DOOR_WIDTH / 2:
        both = " and ".join(map(repr, door.rooms))
        if high - low < DOOR_WIDTH:
            raise InputError(f"there is no door between {both}: they share no wall of {DOOR_WIDTH:g} m or more")
        raise InputError(
            f"the door between {both} at {door.position} is not in the wall that they share: there {'yx'[axis]} is "
            f"{across:g} and {'xy'[axis]} from {low + DOOR_WIDTH / 2:g} to {high - DOOR_WIDTH / 2:g} m"
        )


Interval = tuple[float, float]


@dataclass(frozen=True)
class Wall:
    """Straight piece of wall along x (`axis` 0) or y (1): its centre and half length [m]."""

    axis: int
    center: Point2
    half_length: float


def walls(building: Building) -> tuple[Wall, ...]:
    """Return every wall once, including those shared by rooms."""
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
    found = []
    for (axis, across), pieces in lines.items():
        for low, high in _without(_joined(pieces), _joined(gaps[axis, across])):
            along = (low + high) / 2
            found.append(Wall(axis, (along, across) if axis == 0 else (across, along), (high - low) / 2))
    return tuple(found)


def _joined(pieces: list[Interval]) -> list[Interval]:
    """Merge overlapping intervals."""
    joined: list[Interval] = []
    for low, high in sorted(pieces):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def _without(pieces: list[Interval], gaps: list[Interval]) -> list[Interval]:
    """Subtract the gaps from the pieces; every gap lies within one piece."""
    left = []
    for low, high in pieces:
        cuts = [edge for gap in sorted(gaps) if low <= gap[0] and gap[1] <= high for edge in gap]
        ends = [low, *cuts, high]
        left += [piece for k, piece in enumerate(pairwise(ends)) if k % 2 == 0]
    return left
