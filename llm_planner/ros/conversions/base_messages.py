"""Where the messages of a mobile base meet our dataclasses: odometry, velocities, rooms and doors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Twist
from llm_planner_interfaces.msg import Door as DoorMsg
from llm_planner_interfaces.msg import Room as RoomMsg
from llm_planner_interfaces.msg import Scene as SceneMsg
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64

from llm_planner.errors import InputError
from llm_planner.robots.motion import JointState
from llm_planner.robots.robots import base_pose, yaw_of
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Pose, Room

MAP_FRAME, ODOM_FRAME, BASE_LINK = "map", "odom", "base_link"
VELOCITY_MAX = 20.0  # [m/s, rad/s] no base is faster
WIDTH_MAX = 1.0  # [m] between fingers
ROOMS_MAX = 256  # and doors
Velocity = tuple[float, float, float]  # forward, left [m/s], counter-clockwise [rad/s]


def in_base_frame(state: JointState) -> Velocity:
    """The velocity of a base, turned from the map into its own axes."""
    (vx, vy, turn), yaw = state.qvel.tolist(), float(state.qpos[2])
    c, s = math.cos(yaw), math.sin(yaw)
    return c * vx + s * vy, c * vy - s * vx, turn


def in_map_frame(velocity: Velocity, yaw: float) -> Velocity:
    """The velocity of a base that is turned by `yaw` [rad], turned from its own axes into the map."""
    (forward, left, turn), c, s = velocity, math.cos(yaw), math.sin(yaw)
    return c * forward - s * left, s * forward + c * left, turn


def velocity_to_msg(velocity: Velocity) -> Twist:
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = map(float, velocity)
    return twist


def velocity_from_msg(message: Twist) -> Velocity:
    """Raises InputError for numbers that no base drives with."""
    velocity = (message.linear.x, message.linear.y, message.angular.z)
    if not all(abs(part) <= VELOCITY_MAX for part in velocity):
        raise InputError(
            f"cmd_vel holds {velocity}, forward and left [m/s] and turn [rad/s]; each must lie within ±{VELOCITY_MAX:g}"
        )
    return velocity


def width_from_msg(message: Float64) -> float:
    """How far the fingers are to be apart [m]; not a number leaves them as they are. Raises InputError."""
    return message.data if math.isnan(message.data) else checks.number("gripper_command", message.data, 0.0, WIDTH_MAX)


def odometry_to_msg(state: JointState) -> Odometry:
    """Pose in the odometry's frame, velocity in the base's, as ROS has it."""
    message = Odometry(header=header(state.time, ODOM_FRAME), child_frame_id=BASE_LINK)
    pose = base_pose(*state.qpos.tolist())
    position, orientation = message.pose.pose.position, message.pose.pose.orientation
    position.x, position.y, position.z = pose.position
    orientation.x, orientation.y, orientation.z, orientation.w = pose.orientation
    message.twist.twist = velocity_to_msg(in_base_frame(state))
    return message


def odometry_from_msg(message: Odometry) -> JointState:
    """The base as three joints, x, y, yaw; raises InputError for numbers that no base has."""
    checks.quaternion("odom.pose.pose.orientation", message.pose.pose.orientation)
    state = odometry_as_told(message)
    if not ((np.abs(state.qpos) <= checks.DISTANCE_MAX).all() and (np.abs(state.qvel) <= VELOCITY_MAX).all()):
        raise InputError(
            f"odom is at {state.qpos} and moves at {state.qvel}; it must lie within ±{checks.DISTANCE_MAX:g} m and go "
            f"no faster than {VELOCITY_MAX:g} m/s"
        )
    return state


def odometry_as_told(message: Odometry) -> JointState:
    """As `odometry_from_msg`, of whatever numbers: for whom a robot that tells of none has to be held at once. What is
    no rotation is a yaw that is no number."""
    position, twist = message.pose.pose.position, message.twist.twist
    try:
        yaw = yaw_of(Pose((0.0, 0.0, 0.0), checks.quaternion("", message.pose.pose.orientation)))
    except InputError:
        yaw = math.nan
    qvel = np.array(in_map_frame((twist.linear.x, twist.linear.y, twist.angular.z), yaw))
    return JointState(seconds(message.header.stamp, "odom.header.stamp"), np.array([position.x, position.y, yaw]), qvel)


def rooms_to_msg(building: Building | None) -> list[RoomMsg]:
    rooms = building.rooms if building else ()
    return [
        RoomMsg(name=name, x_min=area.x_min, x_max=area.x_max, y_min=area.y_min, y_max=area.y_max)
        for name, area in ((room.name, room.area) for room in rooms)
    ]


def doors_to_msg(building: Building | None) -> list[DoorMsg]:
    doors = building.doors if building else ()
    return [
        DoorMsg(room=door.rooms[0], other_room=door.rooms[1], position=PointMsg(x=door.position[0], y=door.position[1]))
        for door in doors
    ]


def building_from_msg(message: SceneMsg) -> Building | None:
    """None around an arm at a table. Raises InputError for a room without a name or floor, a door to nowhere."""
    if not message.rooms:
        return None
    checks.items("scene.rooms", message.rooms, ROOMS_MAX)
    checks.items("scene.doors", message.doors, ROOMS_MAX)
    names = [checks.name(f"scene.rooms[{k}].name", room.name) for k, room in enumerate(message.rooms)]
    checks.unique("the names of scene.rooms", names)
    rooms = tuple(_room_from_msg(room, f"scene.rooms[{k}]") for k, room in enumerate(message.rooms))
    return Building(rooms, tuple(_door_from_msg(door, k, names) for k, door in enumerate(message.doors)))


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
