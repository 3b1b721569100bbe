"""Initial positions of objects and people, drawn from a seed and kept off the lanes between doors where possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.scene.predicates import DOCK
from llm_planner.scene.scene import Building, Room
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.model import WALL_THICKNESS, thing_kind

Array = NDArray[np.float64]

WALL_GAP = 0.25  # [m] between an object and the walls
APART = 0.9  # [m] between two objects, so that the robot fits through
LANE_GAPS = (1.1, 0.9, 0.7, 0.5, 0.35)  # [m] of free floor on either side of the lanes, tried in turn
RUN_IN = 1.3  # [m] of free floor in front of a dock
DOCK_GAP, BESIDE_DOCK = 0.3, 0.4  # [m] from that floor to objects; from a dock to a corner
DRAWS = 80  # candidate positions per object and room


def draw_places(building: Building, things: Sequence[ObjectSpec], rng: np.random.Generator) -> list[tuple[float, ...]]:
    """Draw (x [m], y [m], yaw [rad]) per object over all rooms, docks along walls. Raises InputError if too many."""
    places: list[tuple[float, ...]] = []
    taken: list[tuple[float, float, float]] = []  # x, y, radius
    order: list[Room] = []
    for item in things:
        radius = thing_kind(item.kind).radius
        found = None
        for _ in range(2 * len(building.rooms)):
            order = order or [building.rooms[index] for index in rng.permutation(len(building.rooms))]
            room = order.pop()
            found = (
                _at_wall(building, room, taken, rng)
                if item.kind == DOCK
                else _off_walls(building, room, radius, taken, rng)
            )
            if found:
                break
        if found is None:
            raise InputError(f"{len(things)} things do not fit into this building; ask for fewer")
        x, y, yaw = found
        taken.append((x, y, radius))
        if item.kind == DOCK:
            taken.append((*_before(x, y, yaw), RUN_IN / 2))
        places.append(found)
    return places


def _off_walls(
    building: Building,
    room: Room,
    radius: float,
    taken: Sequence[tuple[float, float, float]],
    rng: np.random.Generator,
) -> tuple[float, float, float] | None:
    """Draw a position and a yaw in the room; None if it is full."""
    area, margin = room.area, radius + WALL_GAP
    low, high = (
        np.array([area.x_min + margin, area.y_min + margin]),
        np.array([area.x_max - margin, area.y_max - margin]),
    )
    spots = rng.uniform(low, high, size=(DRAWS, 2))
    index = _best(building, room, spots, radius, _free(spots, radius, taken))
    if index is None:
        return None
    x, y = spots[index].tolist()
    return round(x, 3), round(y, 3), float(rng.uniform(-np.pi, np.pi))


def _at_wall(
    building: Building, room: Room, taken: Sequence[tuple[float, float, float]], rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Draw a pose for a dock, away from doors and with free floor in front; None if there is none."""
    area, kind = room.area, thing_kind(DOCK)
    behind = WALL_THICKNESS / 2 + kind.size[0] / 2
    sides = rng.integers(4, size=DRAWS)  # wall behind the dock: -x, -y, +x, +y
    across = np.where(sides % 2 == 0, area.y_max - area.y_min, area.x_max - area.x_min)
    along = rng.uniform(-0.5, 0.5, DRAWS) * (across - 2 * (kind.radius + BESIDE_DOCK))
    yaws = sides * np.pi / 2
    away = np.where(sides % 2 == 0, area.x_max - area.x_min, area.y_max - area.y_min) / 2 - behind
    cos, sin = np.cos(yaws), np.sin(yaws)
    spots = np.array(area.center) + np.stack([-away * cos - along * sin, -away * sin + along * cos], axis=1)
    fronts = np.array([_before(x, y, yaw) for (x, y), yaw in zip(spots.tolist(), yaws.tolist(), strict=True)])
    free = np.minimum(_free(spots, kind.radius, taken), _free(fronts, RUN_IN / 2, taken) + APART - DOCK_GAP)
    index = _best(building, room, spots, kind.radius, free)
    if index is None:
        return None
    x, y = spots[index].tolist()
    return round(x, 3), round(y, 3), float(yaws[index])


def _before(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return the centre of the floor in front of a dock that must stay free [m]."""
    away = thing_kind(DOCK).size[0] / 2 + RUN_IN / 2
    return x + away * float(np.cos(yaw)), y + away * float(np.sin(yaw))


def _free(spots: Array, radius: float, taken: Sequence[tuple[float, float, float]]) -> Array:
    """Return the clearance around each of the `spots` (n, 2) for an object of that radius [m]."""
    free = np.full(len(spots), np.inf)
    for x, y, other in taken:
        free = np.minimum(free, np.hypot(*(spots - (x, y)).T) - other - radius)
    return free


def _best(building: Building, room: Room, spots: Array, radius: float, free: Array) -> int | None:
    """Return the index of the spot (n, 2) with the widest possible gap to the room's lanes; None if none fits."""
    lanes = np.min([_distance_to_segment(spots, a, b) for a, b in _lanes(building, room)], axis=0) - radius
    for gap in LANE_GAPS:
        good = np.flatnonzero((free >= APART) & (lanes >= gap))
        if len(good):
            return int(good[0])
    return None


def _lanes(building: Building, room: Room) -> list[tuple[Array, Array]]:
    """Return the segments between the room's doors and its centre."""
    points = [door.position for door in building.doors if room.name in door.rooms] + [room.area.center]
    return [(np.array(a), np.array(b)) for a, b in combinations(points, 2)]


def _distance_to_segment(points: Array, a: Array, b: Array) -> Array:
    """Return the distance from each of `points` (n, 2) to the segment from `a` to `b` [m]."""
    along = b - a
    share = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
    distances: Array = np.linalg.norm(points - (a + share[:, None] * along), axis=1)
    return distances
