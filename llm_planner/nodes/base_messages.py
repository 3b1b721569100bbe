"""Where the messages of a mobile base meet our dataclasses: odometry, velocities, rooms and doors."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Twist
from llm_planner_interfaces.msg import Door as DoorMsg
from llm_planner_interfaces.msg import Room as RoomMsg
from llm_planner_interfaces.msg import Scene as SceneMsg
from nav_msgs.msg import Odometry

from llm_planner.control.reference import JointState
from llm_planner.errors import InputError
from llm_planner.nodes.stamps import header, seconds
from llm_planner.simulation.rooms.base import base_pose, yaw_of
from llm_planner.world.building import Building, Door, Room
from llm_planner.world.places import Rectangle
from llm_planner.world.scene import Pose

MAP_FRAME, ODOM_FRAME, BASE_FRAME = "map", "odom", "base_link"
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
    """Raises InputError for a number that is not finite."""
    velocity = (message.linear.x, message.linear.y, message.angular.z)
    if not all(map(math.isfinite, velocity)):
        raise InputError(f"cmd_vel holds a number that is not finite: {velocity}")
    return velocity


def odometry_to_msg(state: JointState) -> Odometry:
    """Pose in the odometry's frame, velocity in the base's, as ROS has it."""
    message = Odometry(header=header(state.time, ODOM_FRAME), child_frame_id=BASE_FRAME)
    pose = base_pose(*state.qpos.tolist())
    position, orientation = message.pose.pose.position, message.pose.pose.orientation
    position.x, position.y, position.z = pose.position
    orientation.x, orientation.y, orientation.z, orientation.w = pose.orientation
    message.twist.twist = velocity_to_msg(in_base_frame(state))
    return message


def odometry_from_msg(message: Odometry) -> JointState:
    """The base as three joints, x, y, yaw; raises InputError for a number that is not finite."""
    state = odometry_as_told(message)
    if not (np.isfinite(state.qpos).all() and np.isfinite(state.qvel).all()):
        raise InputError(f"odom holds a number that is not finite: {state.qpos}, {state.qvel}")
    return state


def odometry_as_told(message: Odometry) -> JointState:
    """As `odometry_from_msg`, of whatever numbers: for whom a robot that tells of none has to be held at once."""
    position, turned, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
    yaw = yaw_of(Pose((0.0, 0.0, 0.0), (turned.x, turned.y, turned.z, turned.w)))
    qvel = np.array(in_map_frame((twist.linear.x, twist.linear.y, twist.angular.z), yaw))
    return JointState(seconds(message.header.stamp), np.array([position.x, position.y, yaw]), qvel)


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
    """None around an arm at a table."""
    if not message.rooms:
        return None
    rooms = tuple(Room(room.name, Rectangle(room.x_min, room.x_max, room.y_min, room.y_max)) for room in message.rooms)
    doors = tuple(Door((door.room, door.other_room), (door.position.x, door.position.y)) for door in message.doors)
    return Building(rooms, doors)
