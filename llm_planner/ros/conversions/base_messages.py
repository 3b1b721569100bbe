"""Conversions between ROS messages and dataclasses for mobile bases: odometry, velocities, rooms and doors."""

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
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import JointState
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, DrivenBase, Pose, Room

MAP_FRAME, ODOM_FRAME, BASE_LINK = "map", "odom", "base_link"
VELOCITY_MAX = 20.0  # [m/s, rad/s] beyond any base
WIDTH_MAX = 1.0  # [m] between fingers
ROOMS_MAX = 256  # also limits doors
Velocity = tuple[float, float, float]  # forward, left [m/s], counter-clockwise [rad/s]


def in_base_frame(state: JointState) -> Velocity:
    """Rotate the velocity of a base from the map frame into the base frame."""
    (vx, vy, turn), yaw = state.qvel.tolist(), float(state.qpos[2])
    c, s = math.cos(yaw), math.sin(yaw)
    return c * vx + s * vy, c * vy - s * vx, turn


def in_map_frame(velocity: Velocity, yaw: float) -> Velocity:
    """Rotate a velocity from the frame of a base at `yaw` [rad] into the map frame."""
    (forward, left, turn), c, s = velocity, math.cos(yaw), math.sin(yaw)
    return c * forward - s * left, s * forward + c * left, turn


def velocity_to_msg(velocity: Velocity) -> Twist:
    twist = Twist()
    twist.linear.x, twist.linear.y, twist.angular.z = map(float, velocity)
    return twist


def velocity_from_msg(message: Twist) -> Velocity:
    """Convert a velocity command; raise InputError if a component exceeds `VELOCITY_MAX`."""
    velocity = (message.linear.x, message.linear.y, message.angular.z)
    if not all(abs(part) <= VELOCITY_MAX for part in velocity):
        raise InputError(
            f"cmd_vel holds {velocity}, forward and left [m/s] and turn [rad/s]; each must lie within ±{VELOCITY_MAX:g}"
        )
    return velocity


def width_from_msg(message: Float64) -> float:
    """Return the commanded gripper width [m], NaN to keep the present one; raise InputError if out of range."""
    return message.data if math.isnan(message.data) else checks.number("gripper_command", message.data, 0.0, WIDTH_MAX)


def odometry_to_msg(state: JointState, prefix: str = "", link: str = BASE_LINK) -> Odometry:
    """Convert the state of a base to ROS odometry: pose in the odometry frame, twist in that of its `link`.

    The names of both frames begin with `prefix`.
    """
    message = Odometry(header=header(state.time, prefix + ODOM_FRAME), child_frame_id=prefix + link)
    pose = upright_pose(*state.qpos.tolist())
    position, orientation = message.pose.pose.position, message.pose.pose.orientation
    position.x, position.y, position.z = pose.position
    orientation.x, orientation.y, orientation.z, orientation.w = pose.orientation
    message.twist.twist = velocity_to_msg(in_base_frame(state))
    return message


def odometry_from_msg(message: Odometry) -> JointState:
    """Convert odometry to the base as three joints, x [m], y [m] and yaw [rad]; raise InputError if out of range."""
    checks.quaternion("odom.pose.pose.orientation", message.pose.pose.orientation)
    state = odometry_as_told(message)
    if not ((np.abs(state.qpos) <= checks.DISTANCE_MAX).all() and (np.abs(state.qvel) <= VELOCITY_MAX).all()):
        raise InputError(
            f"odom is at {state.qpos} and moves at {state.qvel}; it must lie within ±{checks.DISTANCE_MAX:g} m and go "
            f"no faster than {VELOCITY_MAX:g} m/s"
        )
    return state


def odometry_as_told(message: Odometry) -> JointState:
    """Convert odometry like `odometry_from_msg`, but accept any numbers; an invalid rotation gives a NaN yaw.

    For callers that must hold the robot at once when its numbers are invalid.
    """
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
