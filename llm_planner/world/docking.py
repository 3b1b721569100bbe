"""Docking stations: where a mobile base stands in one, its back to it. A station's x axis points away from its wall."""

from __future__ import annotations

from math import atan2, cos, dist, radians, remainder, sin, tau

from llm_planner.world.scene import Pose, Scene, SceneObject

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
