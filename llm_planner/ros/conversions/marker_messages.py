"""Markers of visualization_msgs for scenes, zones, paths and rules.

Stamps are zero, so that tools place them by the newest transforms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from llm_planner.ros.conversions.geometry_messages import pose_to_msg
from llm_planner.scene.geometry import ROUND_KINDS, compose
from llm_planner.scene.scene import Pose, Room, Scene, SceneObject
from llm_planner.scene.scene import Vector3 as Position
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.objects import ALL_COLORS, PLAIN_COLORS

Color = tuple[float, float, float, float]
GRAY = (0.6, 0.6, 0.6)
INK: Color = (0.1, 0.1, 0.12, 1.0)
KEEPS_OUT: dict[Subject, Color] = {Subject.ROBOT: (0.9, 0.15, 0.1, 0.3), Subject.GRIPPER: (0.95, 0.55, 0.1, 0.3)}
PLANNED: Color = (0.95, 0.35, 0.1, 1.0)
REHEARSED: Color = (0.2, 0.45, 0.8, 0.6)
FLOOR: Color = (0.75, 0.8, 0.85, 0.5)
LETTERS = 0.03  # [m] height of text at a table; in a building it is larger by `BUILDING`
BUILDING = 5.0
LINE = 0.006  # [m] width of a path at a table
RAISED = 0.9  # [m] of the rules above the origin of the scene


def markers(frame: str, parts: Iterable[Marker]) -> MarkerArray:
    """Return an array that replaces every marker before it; `frame` is that of the scene."""
    array = MarkerArray(markers=[Marker(action=Marker.DELETEALL), *parts])
    for number, marker in enumerate(array.markers):
        marker.header.frame_id, marker.id = frame, number
    return array


def scene_markers(scene: Scene) -> Iterator[Marker]:
    """Yield rooms, and each object as the box around it, or a cylinder if it is round, with its name."""
    for room in scene.building.rooms if scene.building else ():
        yield from _room(room)
    for item in scene.objects:
        kind = Marker.CYLINDER if item.kind in ROUND_KINDS else Marker.CUBE
        yield _solid("objects", kind, Pose(item.position, item.orientation), item.size, _color(item))
        x, y, z = item.position
        above = (x, y, z + item.size[2] / 2 + 0.6 * _letters(scene))
        name = f"{item.name} (held)" if item.name == scene.held else item.name
        yield _text("names", name, above, 0.7 * _letters(scene))


def zone_markers(zones: Iterable[Zone]) -> Iterator[Marker]:
    """Yield the solids that the robot, or its gripper, keeps out of: each zone and its clearance around it."""
    for zone in zones:
        color, room = KEEPS_OUT[zone.subject], 2 * zone.clearance
        if zone.shape is Shape.BOX:
            x, y, z = (2 * half + room for half in zone.size)
            yield _solid("zones", Marker.CUBE, zone.pose, (x, y, z), color)
            continue
        across = 2 * zone.size[0] + room
        if zone.shape is Shape.SPHERE:
            yield _solid("zones", Marker.SPHERE, zone.pose, (across,) * 3, color)
            continue
        along = 2 * zone.size[1] + (room if zone.shape is Shape.CYLINDER else 0.0)
        yield _solid("zones", Marker.CYLINDER, zone.pose, (across, across, along), color)
        for end in (-zone.size[1], zone.size[1]) if zone.shape is Shape.CAPSULE else ():
            yield _solid("zones", Marker.SPHERE, compose(zone.pose, Pose((0.0, 0.0, end))), (across,) * 3, color)


def path_markers(scene: Scene, now: Sequence[Position], later: Iterable[Sequence[Position]]) -> Iterator[Marker]:
    """Yield the planned path of the running step (`path`) and the rehearsed ones of later steps (`rehearsed`)."""
    width = LINE * (BUILDING if scene.building else 1.0)
    if len(now) > 1:
        yield _line("path", now, PLANNED, 1.5 * width)
    for points in later:
        if len(points) > 1:
            yield _line("rehearsed", points, REHEARSED, width)


def rule_marker(scene: Scene, lines: Sequence[str]) -> Marker:
    """Return the rules in force as a text of several lines above the robot's base, or above a mobile robot."""
    x, y, z = scene.robot.position if scene.building and scene.robot else (0.0, 0.0, 0.0)
    raised = RAISED * (2.0 if scene.building else 1.0)
    return _text("rules", "\n".join(lines), (x, y, z + raised), _letters(scene))


def _letters(scene: Scene) -> float:
    return LETTERS * (BUILDING if scene.building else 1.0)


def _room(room: Room) -> Iterator[Marker]:
    area = room.area
    x, y = area.center
    size = (area.x_max - area.x_min, area.y_max - area.y_min, 0.01)
    yield _solid("rooms", Marker.CUBE, Pose((x, y, -0.01)), size, FLOOR)
    yield _text("rooms", room.name, (x, y, 0.05), 2 * LETTERS * BUILDING)


def _color(item: SceneObject) -> Color:
    red, green, blue = ALL_COLORS.get(item.color) or PLAIN_COLORS.get(item.kind, GRAY)
    return red, green, blue, 0.85


def _marker(namespace: str, kind: int, color: Color) -> Marker:
    red, green, blue, alpha = map(float, color)
    marker = Marker(ns=namespace, type=kind, action=Marker.ADD, color=ColorRGBA(r=red, g=green, b=blue, a=alpha))
    marker.pose.orientation.w = 1.0
    marker.frame_locked = True
    return marker


def _solid(namespace: str, kind: int, pose: Pose, size: Sequence[float], color: Color) -> Marker:
    marker = _marker(namespace, kind, color)
    x, y, z = map(float, size)
    marker.pose, marker.scale = pose_to_msg(pose), Vector3(x=x, y=y, z=z)
    return marker


def _text(namespace: str, text: str, position: Position, height: float) -> Marker:
    marker = _marker(namespace, Marker.TEXT_VIEW_FACING, INK)
    marker.text, marker.scale.z = text, float(height)
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = map(float, position)
    return marker


def _line(namespace: str, points: Sequence[Position], color: Color, width: float) -> Marker:
    marker = _marker(namespace, Marker.LINE_STRIP, color)
    marker.scale.x = width
    marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points]
    return marker
