"""Conversions of poses and of transforms between frames."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Quaternion as QuaternionMsg
from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import Vector3 as Vector3Msg

from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.scene.scene import Pose


def pose_to_msg(pose: Pose) -> PoseMsg:
    x, y, z = pose.position
    qx, qy, qz, qw = pose.orientation
    return PoseMsg(position=PointMsg(x=x, y=y, z=z), orientation=QuaternionMsg(x=qx, y=qy, z=qz, w=qw))


def pose_from_msg(message: PoseMsg, field: str = "pose") -> Pose:
    """Convert a pose; raise InputError, naming `field`, for coordinates or quaternions that are invalid."""
    position = checks.point(f"{field}.position", message.position)
    return Pose(position, checks.quaternion(f"{field}.orientation", message.orientation))


def transform_to_msg(time: float, child: str, pose: Pose, frame: str) -> TransformStamped:
    """Make the transform of the frame `child` at `pose` in `frame`, at `time` [s]."""
    message = TransformStamped(header=header(time, frame), child_frame_id=child)
    x, y, z = pose.position
    message.transform.translation = Vector3Msg(x=x, y=y, z=z)
    message.transform.rotation = pose_to_msg(pose).orientation
    return message


def transforms_from_msg(message: Any, fixed: bool) -> list[tuple[str, str, Pose, float | None]]:
    """Convert a `tf2_msgs/TFMessage` to parent, child, T_parent_child and time [s], None if it is `fixed`.

    Raises:
        InputError: A name, stamp or transform is invalid.
    """
    checks.items("transforms", message.transforms)
    read = []
    for index, one in enumerate(message.transforms):
        field, transform = f"transforms[{index}]", one.transform
        position = checks.point(f"{field}.translation", transform.translation)
        pose = Pose(position, checks.quaternion(f"{field}.rotation", transform.rotation))
        names = (
            checks.name(f"{field}.header.frame_id", one.header.frame_id).lstrip("/"),
            checks.name(f"{field}.child_frame_id", one.child_frame_id).lstrip("/"),
        )
        read.append((*names, pose, None if fixed else seconds(one.header.stamp, f"{field}.header.stamp")))
    return read
