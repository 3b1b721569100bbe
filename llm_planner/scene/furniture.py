"""Geometry of drawers and docking stations.

The parts of a drawer (cabinet, tray, handle) follow from its measured box. The drawer's frame is the middle of that box
with x pointing into the cabinet. Proportions are those of the simulated drawer, scaled by width; the box grows to the
front as the drawer opens. A docking station's x axis points away from its wall, and the base docks with its back to the
station. Lengths are in metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, dist, radians, remainder, sin, tau

from llm_planner.scene.geometry import bottom, upright_pose, yaw_of
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Pose, Scene, SceneObject

WIDTH, HEIGHT, DEPTH = 0.15, 0.065, 0.12  # of the cabinet
FRONT = 0.054  # how far the tray's front and the handle protrude when closed
SIDE = 0.012  # from the outside of the cabinet to the inside of the tray
TRAY_FLOOR, CEILING = 0.011, 0.061  # heights of the tray's floor and of the cabinet's ceiling above it
DRAWN = 0.075  # travel of `open_drawer`, for a drawer of any size
SPARE, OVERHEAD = 0.003, 0.002  # margins around and above an object in a tray
_STEPS = (1.0, -1.0, 0.6, -0.6, 0.3, -0.3, 0.0)  # lateral positions to try in a tray, sides first


@dataclass(frozen=True)
class Part:
    """Rectangle seen from above: centre, half extents along and across `heading` [rad], base frame."""

    center: Point2
    half: Point2
    heading: float

    def contains(self, x: float, y: float) -> bool:
        """Return whether the point (x, y) in the base frame lies within."""
        along, across = self.seen(x, y)
        return abs(along) <= self.half[0] and abs(across) <= self.half[1]

    @property
    def front(self) -> Point2:
        """Middle of the front edge."""
        return self.point(-self.half[0], 0.0)

    def seen(self, x: float, y: float) -> Point2:
        """Return the point (x, y) of the base frame as offsets from the centre along and across the heading."""
        dx, dy = x - self.center[0], y - self.center[1]
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx

    def point(self, along: float, across: float) -> Point2:
        """Return the base-frame point at these offsets from the centre; the inverse of `seen`."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return self.center[0] + c * along - s * across, self.center[1] + s * along + c * across


def scale(drawer: SceneObject) -> float:
    """Return the drawer's size relative to the simulated drawer."""
    return drawer.size[1] / WIDTH


def cabinet(drawer: SceneObject) -> Part:
    """Return the fixed part of the drawer, whose top can carry objects."""
    half = drawer.size[0] / 2
    return _part(drawer, half - DEPTH * scale(drawer), half, drawer.size[1] / 2)


def tray(drawer: SceneObject) -> Part:
    """Return the area of the whole tray, including the piece under the cabinet's ceiling."""
    half = drawer.size[0] / 2
    return _part(drawer, FRONT * scale(drawer) - half, half, drawer.size[1] / 2 - SIDE * scale(drawer))


def opening(drawer: SceneObject) -> Part:
    """Return the exposed piece of the tray, at most as long as `open_drawer` exposes every time."""
    front = FRONT * scale(drawer) - drawer.size[0] / 2
    out = min(max(drawer.state, 0.0), DRAWN)
    return _part(drawer, front, front + out, drawer.size[1] / 2 - SIDE * scale(drawer))


def floor_height(drawer: SceneObject) -> float:
    """Return the height of the tray's floor."""
    return bottom(drawer) + TRAY_FLOOR * scale(drawer)


def headroom(drawer: SceneObject) -> float:
    """Return the height of the tallest object over which the drawer closes."""
    return (CEILING - TRAY_FLOOR) * scale(drawer) - OVERHEAD


def largest(drawer: SceneObject) -> tuple[float, float, float]:
    """Return the size limits of an object in the open tray: along the drawer's travel, across it, and height."""
    across = drawer.size[1] - 2 * SIDE * scale(drawer)
    return DRAWN - 2 * SPARE, across - 2 * SPARE, headroom(drawer)


def spots(drawer: SceneObject, half: float) -> Iterator[Point2]:
    """Yield positions in the open tray for an object of half width `half`; none where the tray is too narrow."""
    part = opening(drawer)
    edge = part.half[1] - half - SPARE
    if edge >= 0.0:
        yield from (part.point(0.0, step * edge) for step in _STEPS)


def _part(drawer: SceneObject, front: float, back: float, across: float) -> Part:
    """Return the part from `front` to `back` along the drawer's x axis, with half width `across`."""
    x, y, _ = drawer.position
    whole = Part((x, y), (drawer.size[0] / 2, drawer.size[1] / 2), yaw_of(drawer))
    return Part(whole.point((front + back) / 2, 0.0), ((back - front) / 2, across), whole.heading)


GAP = 0.24  # [m] from a station's front to the centre of a docked base, which has a radius of 0.22 m
WITHIN, TURNED = 0.02, radians(3.0)  # [m], [rad] largest deviation of a docked base


def docking_pose(station: SceneObject, before: float = 0.0) -> Pose:
    """Return T_map_base of a base docked in the station, or `before` metres in front of that pose."""
    (x, y, _), yaw, away = station.position, yaw_of(station), station.size[0] / 2 + GAP + before
    return upright_pose(x + away * cos(yaw), y + away * sin(yaw), yaw)


def docked(scene: Scene, name: str) -> bool:
    """Return whether the robot stands in the station of that name, within the tolerance for charging."""
    place = docking_pose(scene.find(name))
    if scene.robot is None:
        return False
    turned = remainder(yaw_of(scene.robot) - yaw_of(place), tau)
    return dist(scene.robot.position[:2], place.position[:2]) <= WITHIN and abs(turned) <= TURNED
