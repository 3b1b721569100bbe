"""Conversions of scenes: objects, rooms and doors, the base under an arm.

`SceneReader` reads a stream of scenes and tolerates objects that it cannot read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Vector3 as Vector3Msg
from llm_planner_interfaces.msg import Door as DoorMsg
from llm_planner_interfaces.msg import Room as RoomMsg
from llm_planner_interfaces.msg import Scene as SceneMsg
from llm_planner_interfaces.msg import SceneObject as SceneObjectMsg

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model, arm_shape
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.geometry_messages import pose_from_msg, pose_to_msg
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.scene.driven_base import driven_to
from llm_planner.scene.geometry import UNKNOWN_SIZE, completed
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, DrivenBase, Pose, Room, Scene, SceneObject

if TYPE_CHECKING:
    from rclpy.node import Node

NOT_MEASURED = Pose((float("nan"),) * 3)
SPEED_MAX = 100.0  # [m/s]
OBJECTS_MAX = ROOMS_MAX = 256  # that of rooms also limits doors


def scene_to_msg(scene: Scene, frame: str, world: str = "", run: int = 0) -> SceneMsg:
    """Convert a scene; `frame` is that of the arm's base, in which its objects are."""
    building = scene.base.building if scene.base else scene.building
    return SceneMsg(
        header=header(scene.time, MAP_FRAME if scene.building else frame),
        run=run,
        world=world,
        objects=[_object_to_msg(item) for item in scene.objects],
        held=scene.held,
        robot=pose_to_msg(scene.robot or NOT_MEASURED),
        speed=scene.speed,
        rooms=[_room_to_msg(room) for room in building.rooms] if building else [],
        doors=[_door_to_msg(door) for door in building.doors] if building else [],
        base=pose_to_msg(scene.base.pose) if scene.base else PoseMsg(),
    )


def _room_to_msg(room: Room) -> RoomMsg:
    area = room.area
    return RoomMsg(name=room.name, x_min=area.x_min, x_max=area.x_max, y_min=area.y_min, y_max=area.y_max)


def _door_to_msg(door: Door) -> DoorMsg:
    (room, other), (x, y) = door.rooms, door.position
    return DoorMsg(room=room, other_room=other, position=PointMsg(x=x, y=y))


def _object_to_msg(item: SceneObject) -> SceneObjectMsg:
    size = Vector3Msg(x=item.size[0], y=item.size[1], z=item.size[2])
    pose = pose_to_msg(Pose(item.position, item.orientation))
    return SceneObjectMsg(name=item.name, kind=item.kind, color=item.color, pose=pose, size=size, state=item.state)


def scene_from_msg(message: SceneMsg, left_out: dict[str, str] | None = None, arm: str = Scene.arm) -> Scene:
    """Convert a scene.

    Args:
        message: Scene message.
        left_out: If given, an unreadable object is left out, and the reason is stored here under its name. Then the
            held object may be missing from the objects; see `SceneReader`.
        arm: Name of the arm, which the message lacks.

    Raises:
        InputError: The scene is unusable, or an object is unreadable and `left_out` is None.
    """
    where, base = message.robot.position, driven_base_from_msg(message, arm_model(arm))
    is_measured = not all(map(math.isnan, (where.x, where.y, where.z)))
    return Scene(
        seconds(message.header.stamp, "scene.header.stamp"),
        _objects_from_msg(message.objects, left_out),
        checks.name("scene.held", message.held) if message.held else "",
        pose_from_msg(message.robot, "scene.robot") if is_measured else None,
        checks.number("scene.speed", message.speed, 0.0, SPEED_MAX),
        None if base else building_from_msg(message),
        arm=arm,
        workspace=arm_shape(arm).workspace,
        base=base,
    )


def _objects_from_msg(messages: Sequence[SceneObjectMsg], left_out: dict[str, str] | None) -> tuple[SceneObject, ...]:
    """Convert the objects; duplicate names make the scene unusable, since everything refers to objects by name."""
    checks.items("scene.objects", messages, OBJECTS_MAX)
    checks.unique("the names of scene.objects", [message.name for message in messages if message.name.strip()])
    read: list[SceneObject] = []
    for index, message in enumerate(messages):
        try:
            read.append(_object_from_msg(message))
        except InputError as error:
            why = f"of scene.objects[{index}], called {message.name[:40]!a}, {error}"
            if left_out is None:
                raise InputError(why) from error
            left_out[message.name] = why
    return tuple(read)


def _object_from_msg(message: SceneObjectMsg) -> SceneObject:
    pose = pose_from_msg(message.pose)
    return SceneObject(
        checks.name("name", message.name),
        checks.text("kind", message.kind, checks.NAME_MAX),
        checks.text("color", message.color, checks.NAME_MAX),
        pose.position,
        pose.orientation,
        checks.size("size", message.size),
        checks.number("state", message.state),
    )


def building_from_msg(message: SceneMsg) -> Building | None:
    """Convert rooms and doors, None if there are no rooms.

    Raises:
        InputError: A room has no name or area, or a door leads to an unknown room.
    """
    if not message.rooms:
        return None
    checks.items("scene.rooms", message.rooms, ROOMS_MAX)
    checks.items("scene.doors", message.doors, ROOMS_MAX)
    names = [checks.name(f"scene.rooms[{k}].name", room.name) for k, room in enumerate(message.rooms)]
    checks.unique("the names of scene.rooms", names)
    rooms = tuple(_room_from_msg(room, f"scene.rooms[{k}]") for k, room in enumerate(message.rooms))
    return Building(rooms, tuple(_door_from_msg(door, k, names) for k, door in enumerate(message.doors)))


def driven_base_from_msg(message: SceneMsg, arm: ArmModel) -> DrivenBase | None:
    """Convert the base under the arm, None if that stands fixed; raise InputError as `building_from_msg`."""
    if arm.mount is None:
        return None
    building = building_from_msg(message)
    if building is None:
        raise InputError(f"scene.rooms is empty; the base of {arm.name} drives in rooms, so the scene must name one")
    position = checks.point("scene.base.position", message.base.position)
    pose = Pose(position, checks.quaternion("scene.base.orientation", message.base.orientation))
    return DrivenBase(pose, arm.mount.position[0], arm.shape.table_range, building)


def _room_from_msg(room: RoomMsg, field: str) -> Room:
    area = [checks.number(f"{field}.{side}", getattr(room, side)) for side in ("x_min", "x_max", "y_min", "y_max")]
    if not (area[0] < area[1] and area[2] < area[3]):
        raise InputError(
            f"{field} reaches from x {area[0]:g} to {area[1]:g} and y {area[2]:g} to {area[3]:g}, no floor"
        )
    return Room(room.name, Rectangle(*area))


def _door_from_msg(door: DoorMsg, index: int, rooms: Sequence[str]) -> Door:
    field = f"scene.doors[{index}]"
    for room in (door.room, door.other_room):
        if room not in rooms:
            raise InputError(f"{field} leads to {room[:40]!a}; the rooms are: {', '.join(rooms)[:200]}")
    x, y, _ = checks.point(f"{field}.position", door.position)
    return Door((door.room, door.other_room), (x, y))


class SceneReader:
    """Reads a stream of scenes of an `arm`; `tell(sentence)` is called for every flaw. For one owner, not shared.

    `run` and `frame` are those of the newest scene.
    """

    def __init__(self, tell: Callable[[str], None], arm: str = Scene.arm) -> None:
        self.run, self.frame = 0, ""
        self._tell, self._arm = tell, arm
        self._before: Scene | None = None

    @classmethod
    def of(cls, node: Node, arm: str) -> SceneReader:
        """Return a reader that logs flaws as warnings of `node`."""
        return cls(lambda flaw: node.get_logger().warning(flaw, throttle_duration_sec=5.0), arm)

    def read(self, message: SceneMsg) -> Scene:
        """Convert the next scene.

        An unreadable object keeps its last known place, or is left out if it was never seen. A held object that is not
        listed is placed in the hand.

        Raises:
            InputError: The scene is unusable; the reader keeps the scene before it.
        """
        left_out: dict[str, str] = {}
        seen = scene_from_msg(message, left_out, self._arm)
        before = self._before if message.run == self.run else None
        if before and seen.base:
            before = driven_to(before, seen.base.pose)
        scene = completed(seen, left_out, before)
        for name, why in left_out.items():
            kept = "it counts as where it was last" if name in scene.names else "it is left out"
            self._tell(f"an object of the scene cannot be used, {kept}: {why}")
        if scene.held and scene.held not in seen.names:
            size = "as large as it was last" if before and scene.held in before.names else f"{UNKNOWN_SIZE[0]:g} m wide"
            self._tell(
                f"held is {scene.held!a}, which cannot be read among the objects; it counts as in the hand, {size}"
            )
        self._before, self.run, self.frame = scene, message.run, message.header.frame_id
        return scene
