"""Keep-out mask of a building for a navigation system: the cells of its floor that rules close to the base's centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Building
from llm_planner.scene.zones import Subject, Zone
from llm_planner.skills.arm_paths import half_widths
from llm_planner.skills.floor_paths import least_gap

RESOLUTION = 0.05  # [m] side of a cell


@dataclass(frozen=True, eq=False)
class KeepoutMask:
    """Grid over a building: `closed[row, column]`, rows along y, cells of `resolution` [m] in the map frame.

    `origin` [m] is the corner of the first cell with the least x and y.
    """

    origin: Point2
    closed: NDArray[np.bool_]
    resolution: float = RESOLUTION


def keepout_mask(building: Building, gaps: Sequence[tuple[Zone, float]]) -> KeepoutMask:
    """Close each cell that is nearer to a zone than its gap [m], in whole or in part."""
    areas = [room.area for room in building.rooms]
    x_min, y_min = min(area.x_min for area in areas), min(area.y_min for area in areas)
    columns = ceil((max(area.x_max for area in areas) - x_min) / RESOLUTION)
    rows = ceil((max(area.y_max for area in areas) - y_min) / RESOLUTION)
    x = x_min + RESOLUTION * (np.arange(columns) + 0.5)
    y = y_min + RESOLUTION * (np.arange(rows) + 0.5)
    closed = np.zeros((rows, columns), dtype=np.bool_)
    for zone, gap in gaps:
        (cx, cy, _), (hx, hy, _) = zone.pose.position, half_widths(zone).tolist()
        dx, dy = np.maximum(np.abs(x - cx) - hx, 0.0), np.maximum(np.abs(y - cy) - hy, 0.0)
        closed |= np.hypot(dx[None, :], dy[:, None]) < gap + RESOLUTION / sqrt(2)
    return KeepoutMask((x_min, y_min), closed)


def gaps_of(zones: Sequence[Zone], here: Point2) -> tuple[tuple[Zone, float], ...]:
    """Return each zone with the distance [m] that the base at `here` [m] keeps from it, in whole cells.

    A base that stands nearer may leave: the gap is then that from where it stands, and none for a zone that it is in.
    """
    found = []
    for zone in zones:
        gap, away = least_gap(zone), distance_from(zone, here)
        if away < gap + RESOLUTION:
            gap = max(0.0, RESOLUTION * int(away / RESOLUTION - 1.5))
        if away > 0.0:
            found.append((zone, gap))
    return tuple(found)


def distance_from(zone: Zone, point: Point2) -> float:
    """Return the distance [m] of a point on the floor from the box around a zone; 0 inside."""
    half = half_widths(zone).tolist()
    return hypot(*(max(abs(p - c) - h, 0.0) for p, c, h in zip(point, zone.pose.position, half, strict=False)))


def is_entered(zone: Zone, here: Point2, soon: Point2) -> bool:
    """Return whether a base that goes from `here` to `soon` [m] enters a zone, which it is not in."""
    least = zone.clearance + (BASE_RADIUS if zone.subject is Subject.ROBOT else 0.0)
    return distance_from(zone, here) > least >= distance_from(zone, soon)
