"""Where things and people are at the start: drawn from a seed, off the ways from door to door while there is space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.things import thing_kind
from llm_planner.world.building import Building, Room

Array = NDArray[np.float64]

WALL_GAP = 0.25  # [m] between a thing and the walls
APART = 0.9  # [m] between the boxes of two things, so that the robot has space between them
LANE_GAPS = (1.1, 0.9, 0.7, 0.5, 0.35)  # [m] of free floor on either side of the ways through a room, tried in turn
DRAWS = 80  # places tried for one thing before it must make do with less


def draw_places(building: Building, things: Sequence[ObjectSpec], rng: np.random.Generator) -> list[tuple[float, ...]]:
    """For each thing x, y [m] and yaw [rad]; spread over the rooms. Raises InputError when there are too many."""
    places: list[tuple[float, ...]] = []
    taken: list[tuple[float, float, float]] = []  # x, y, radius
    order: list[Room] = []
    for item in things:
        radius = thing_kind(item.kind).radius
        found = None
        for _ in range(2 * len(building.rooms)):
            order = order or [building.rooms[index] for index in rng.permutation(len(building.rooms))]
            found = _draw_spot(building, order.pop(), radius, taken, rng)
            if found:
                break
        if found is None:
            raise InputError(f"{len(things)} things do not fit into this building; ask for fewer")
        taken.append((*found, radius))
        places.append((*found, float(rng.uniform(-np.pi, np.pi))))
    return places


def _draw_spot(
    building: Building,
    room: Room,
    radius: float,
    taken: Sequence[tuple[float, float, float]],
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """A place in the room, as far from the ways through it as there is space for; None when it is full."""
    area, margin = room.area, radius + WALL_GAP
    low, high = (
        np.array([area.x_min + margin, area.y_min + margin]),
        np.array([area.x_max - margin, area.y_max - margin]),
    )
    spots = rng.uniform(low, high, size=(DRAWS, 2))
    free = np.full(DRAWS, np.inf)
    for x, y, other in taken:
        free = np.minimum(free, np.hypot(*(spots - (x, y)).T) - other - radius)
    lanes = np.min([_distance_to_segment(spots, a, b) for a, b in _lanes(building, room)], axis=0) - radius
    for gap in LANE_GAPS:
        good = np.flatnonzero((free >= APART) & (lanes >= gap))
        if len(good):
            x, y = spots[good[0]].tolist()
            return round(x, 3), round(y, 3)
    return None


def _lanes(building: Building, room: Room) -> list[tuple[Array, Array]]:
    """The straight ways between doors and the middle of the room."""
    points = [door.position for door in building.doors if room.name in door.rooms] + [room.area.center]
    return [(np.array(a), np.array(b)) for a, b in combinations(points, 2)]


def _distance_to_segment(points: Array, a: Array, b: Array) -> Array:
    """From each of `points` (n, 2) to the segment from `a` to `b` [m]."""
    along = b - a
    share = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
    distances: Array = np.linalg.norm(points - (a + share[:, None] * along), axis=1)
    return distances
