"""The parts of a drawer, found in its measured box: the cabinet, the tray that slides out of it, the handle before it.

The drawer's frame is the middle of that box, x along the way into the cabinet. Proportions are those of the simulated
drawer, scaled by its width; the box grows to the front by what the drawer is out. Lengths in metres.

Docking stations: where a mobile base stands in one, its back to it. A station's x axis points away from its wall.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, cos, dist, radians, remainder, sin, tau

from llm_planner.scene.geometry import bottom, rotation_matrix
from llm_planner.scene.scene import Pose, Scene, SceneObject

WIDTH, HEIGHT, DEPTH = 0.15, 0.065, 0.12  # of the cabinet
FRONT = 0.054  # that the tray's front and the handle stand before the closed cabinet
SIDE = 0.012  # from the outside of the cabinet to the inside of the tray
TRAY_FLOOR, CEILING = 0.011, 0.061  # heights of the tray's floor and of the cabinet's ceiling above it
DRAWN = 0.075  # that `open_drawer` pulls out a drawer of any size
SPARE, OVERHEAD = 0.003, 0.002  # left free around what is put into a tray, and above it
_STEPS = (1.0, -1.0, 0.6, -0.6, 0.3, -0.3, 0.0)  # places tried across a tray: what lies at a side leaves most room

Point2 = tuple[float, float]


@dataclass(frozen=True)
class Part:
    """A rectangle seen from above: its middle, half its extents along and across `heading` [rad], base frame."""

    center: Point2
    half: Point2
    heading: float

    def contains(self, x: float, y: float) -> bool:
        """Whether the point (x, y) of the base frame is within."""
        along, across = self.seen(x, y)
        return abs(along) <= self.half[0] and abs(across) <= self.half[1]

    @property
    def front(self) -> Point2:
        """The middle of its edge at the front, which goes along with the tray."""
        return self.point(-self.half[0], 0.0)

    def seen(self, x: float, y: float) -> Point2:
        """The point (x, y) of the base frame, along and across the heading from the middle."""
        dx, dy = x - self.center[0], y - self.center[1]
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx

    def point(self, along: float, across: float) -> Point2:
        """The point of the base frame that is seen so."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return self.center[0] + c * along - s * across, self.center[1] + s * along + c * across


def scale(drawer: SceneObject) -> float:
    """Its size against that of the simulated drawer."""
    return drawer.size[1] / WIDTH


def cabinet(drawer: SceneObject) -> Part:
    """What stays where it is; its top bears things."""
    half = drawer.size[0] / 2
    return _part(drawer, half - DEPTH * scale(drawer), half, drawer.size[1] / 2)


def tray(drawer: SceneObject) -> Part:
    """Where things lie in it, under the ceiling of the cabinet or not."""
    half = drawer.size[0] / 2
    return _part(drawer, FRONT * scale(drawer) - half, half, drawer.size[1] / 2 - SIDE * scale(drawer))


def opening(drawer: SceneObject) -> Part:
    """The piece of the tray that is out, but no more than `open_drawer` pulls out: it is out again the next time."""
    front = FRONT * scale(drawer) - drawer.size[0] / 2
    out = min(max(drawer.state, 0.0), DRAWN)
    return _part(drawer, front, front + out, drawer.size[1] / 2 - SIDE * scale(drawer))


def floor_height(drawer: SceneObject) -> float:
    """Of the tray."""
    return bottom(drawer) + TRAY_FLOOR * scale(drawer)


def headroom(drawer: SceneObject) -> float:
    """The height of the tallest thing over which it closes."""
    return (CEILING - TRAY_FLOOR) * scale(drawer) - OVERHEAD


def largest(drawer: SceneObject) -> tuple[float, float, float]:
    """Of what fits into the open tray: its length along the drawer's way, across it, and its height."""
    across = drawer.size[1] - 2 * SIDE * scale(drawer)
    return DRAWN - 2 * SPARE, across - 2 * SPARE, headroom(drawer)


def spots(drawer: SceneObject, half: float) -> Iterator[Point2]:
    """Where a thing that reaches `half` to either side may lie in the open tray; none where that is too narrow."""
    part = opening(drawer)
    edge = part.half[1] - half - SPARE
    if edge >= 0.0:
        yield from (part.point(0.0, step * edge) for step in _STEPS)


def _part(drawer: SceneObject, front: float, back: float, across: float) -> Part:
    """From `front` to `back` along the drawer's x axis, and as far `across` to either side."""
    rows = rotation_matrix(drawer.orientation)
    x, y, _ = drawer.position
    whole = Part((x, y), (drawer.size[0] / 2, drawer.size[1] / 2), math.atan2(rows[1][0], rows[0][0]))
    return Part(whole.point((front + back) / 2, 0.0), ((back - front) / 2, across), whole.heading)


GAP = 0.24  # [m] from a station's front to the middle of a base in it, whose radius is 0.22 m: they do not touch
WITHIN, TURNED = 0.02, radians(3.0)  # [m], [rad] off its place at which a base counts as docked


def docking_pose(station: SceneObject, before: float = 0.0) -> Pose:
    """T_map_base in the station, or so much `before` it [m]: with the back to it."""
    (x, y, _), (_, _, qz, qw) = station.position, station.orientation
    yaw, away = 2 * atan2(qz, qw), station.size[0] / 2 + GAP + before
    return Pose((x + away * cos(yaw), y + away * sin(yaw), 0.0), (0.0, 0.0, qz, qw))


def docked(scene: Scene, name: str) -> bool:
    """The robot stands in the station of that name, as exactly as charging needs."""
    place = docking_pose(scene.find(name))
    if scene.robot is None:
        return False
    turned = remainder(_yaw(scene.robot) - _yaw(place), tau)
    return dist(scene.robot.position[:2], place.position[:2]) <= WITHIN and abs(turned) <= TURNED


def _yaw(pose: Pose) -> float:
    return 2 * atan2(pose.orientation[2], pose.orientation[3])
