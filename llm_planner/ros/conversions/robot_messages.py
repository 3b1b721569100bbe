"""Conversions of a robot's states and commands: joint states and trajectories; odometry and velocities of a base."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy._rclpy_pybind11 import RMWError
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.geometry_messages import pose_to_msg
from llm_planner.ros.conversions.message_checks import header, seconds, stamp
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.scene import Pose

Array = NDArray[np.float64]
MAP_FRAME, ODOM_FRAME, BASE_LINK = "map", "odom", "base_link"
MAGNITUDE_MAX = 1e3  # [rad, rad/s, rad/s^2, Nm] far beyond any arm; keeps arithmetic finite
WIDTH_MAX = 1.0  # [m] between fingers
VELOCITY_MAX = 20.0  # [m/s, rad/s] beyond any base
Velocity = tuple[float, float, float]  # forward, left [m/s], counter-clockwise [rad/s]


def joint_state_to_msg(state: JointState, gripper_width: float, arm: ArmModel) -> JointStateMsg:
    """Convert the arm's state and the gripper width [m]; each finger carries half the width and zero effort."""
    fingers, efforts = len(arm.fingers), state.effort.tolist()
    return JointStateMsg(
        header=header(state.time, arm.frame),
        name=[*arm.joints, *arm.fingers],
        position=array("d", [*state.qpos.tolist(), *[gripper_width / 2] * fingers]),
        velocity=array("d", [*state.qvel.tolist(), *[0.0] * fingers]),
        effort=array("d", [*efforts, *[0.0] * fingers] if efforts else []),
    )


def joint_state_from_msg(
    message: JointStateMsg, arm: Sequence[str], fingers: Sequence[str]
) -> tuple[JointState, float]:
    """Convert a joint state; the joints may come in any order, and other joints are ignored.

    Args:
        message: Joint state message.
        arm: Names of the arm's joints.
        fingers: Names of the finger joints, perhaps none.

    Returns:
        State of the arm's joints [rad, rad/s, Nm], and the gripper width [m], NaN without `fingers`.

    Raises:
        InputError: Joints are missing, or values are NaN or out of range.
    """
    state, width = joint_state_unchecked(message, arm, fingers)
    for name, values in (("position", state.qpos), ("velocity", state.qvel), ("effort", state.effort)):
        if not all(-MAGNITUDE_MAX <= value <= MAGNITUDE_MAX for value in values.tolist()):
            told = np.array2string(values, precision=3)
            raise InputError(f"{name} of joint_states is {told}; its numbers must lie within ±{MAGNITUDE_MAX:g}")
    if fingers:
        checks.number("the width between the fingers in joint_states", width, -WIDTH_MAX, WIDTH_MAX)
    return state, width


def joint_state_unchecked(
    message: JointStateMsg, arm: Sequence[str], fingers: Sequence[str]
) -> tuple[JointState, float]:
    """Convert a joint state like `joint_state_from_msg`, but accept any numbers, even NaN.

    For callers that must hold the robot at once when its numbers are invalid.
    """
    joints, nq = (*arm, *fingers), len(arm)
    order = range(len(joints)) if tuple(message.name) == joints else _order(message.name, joints)
    if len(message.position) < len(message.name) or 0 < len(message.velocity) < len(message.name):
        raise InputError(
            f"joint_states names {len(message.name)} joints but does not give each a position and a velocity"
        )
    position = [message.position[index] for index in order]
    velocity = [message.velocity[index] for index in order[:nq]] if message.velocity else [0.0] * nq
    effort = [message.effort[index] for index in order[:nq]] if len(message.effort) == len(message.name) else []
    time = seconds(message.header.stamp, "joint_states.header.stamp")
    state = JointState(time, np.array(position[:nq]), np.array(velocity), np.array(effort))
    return state, sum(position[nq:]) if fingers else float("nan")


def _order(names: Sequence[str], joints: Sequence[str]) -> list[int]:
    checks.items("name of joint_states", names)
    checks.unique("name of joint_states", names)
    index = {name: place for place, name in enumerate(names)}
    missing = [name for name in joints if name not in index]
    if missing:
        raise InputError(
            f"joint_states lacks {', '.join(missing)}; it holds: {', '.join(names)[:200] or 'nothing'}. Expected are: "
            f"{', '.join(joints)}. Set the parameter robot of the nodes to the robot that sends these states"
        )
    return [index[name] for name in joints]


def trajectory_to_msg(plan: JointTrajectory, arm: ArmModel, with_finger: bool = True) -> JointTrajectoryMsg:
    """Convert a trajectory of the arm and, unless its width is NaN, the first finger, which the second mirrors."""
    finger = [arm.finger] if with_finger and not np.isnan(plan.gripper_width) else []
    half, still = [plan.gripper_width / 2] * len(finger), [0.0] * len(finger)
    qacc = [*plan.qacc.tolist(), [0.0] * plan.qacc.shape[1]]
    points = [
        JointTrajectoryPoint(
            positions=array("d", [*qpos, *half]),
            velocities=array("d", [*qvel, *still]),
            accelerations=array("d", [*acceleration, *still]),
            time_from_start=_duration(k * plan.dt),
        )
        for k, (qpos, qvel, acceleration) in enumerate(zip(plan.qpos.tolist(), plan.qvel.tolist(), qacc, strict=True))
    ]
    names = [*arm.joints, *finger]
    return JointTrajectoryMsg(header=header(plan.start_time, arm.frame), joint_names=names, points=points)


DT_MIN = 1e-3  # [s] between the points of a command; finer ones are a mistake


def trajectory_from_msg(message: JointTrajectoryMsg, arm: ArmModel) -> JointTrajectory:
    """Convert a joint command of the arm, with or without the first finger.

    Raises:
        InputError: The joints are wrong, there are fewer than two points, the points are not evenly spaced in time, or
            values are missing or out of range.
    """
    names = tuple(message.joint_names)
    if names not in _commanded(arm):
        wanted = f"{', '.join(arm.joints)} and may add {arm.finger}"
        raise InputError(f"joint_command names {', '.join(names)[:200] or 'nothing'}; it must name {wanted}")
    checks.items("points of joint_command", message.points)
    times = np.array([seconds(point.time_from_start, "time_from_start") for point in message.points])
    try:
        rows = [(point.positions, point.velocities, point.accelerations) for point in message.points]
        table = np.array(rows)  # (n+1, 3, joints)
    except ValueError as error:
        raise InputError("every point of joint_command needs positions, velocities and accelerations") from error
    return _trajectory(message.header.stamp, times, table, len(names), arm.nq)


def _commanded(arm: ArmModel) -> tuple[tuple[str, ...], ...]:
    """Return the names that a command may have."""
    return (*arm.joints, arm.finger), arm.joints


def _trajectory(since: TimeMsg, times: Array, table: Array, joints: int, nq: int) -> JointTrajectory:
    """Check the points of a command: `times` (n+1) [s] and a `table` (n+1, 3, joints); raise InputError."""
    if len(times) < 2 or np.ptp(np.diff(times)) > 1e-6 or times[1] - times[0] < DT_MIN:
        raise InputError(f"joint_command needs at least two points, evenly spaced in time, {DT_MIN} s apart or more")
    if table.shape != (len(times), 3, joints) or not np.isfinite(table).all():
        raise InputError("every point of joint_command needs one finite position, velocity and acceleration a joint")
    if np.abs(table).max() > MAGNITUDE_MAX:
        raise InputError(f"no position, velocity or acceleration of joint_command may exceed {MAGNITUDE_MAX:g}")
    width = float("nan")
    if joints > nq:
        told = 2 * float(table[0, 0, nq])
        width = checks.number("the width between the fingers in joint_command", told, 0.0, WIDTH_MAX)
    qpos, qvel, qacc = table[:, 0, :nq], table[:, 1, :nq], table[:-1, 2, :nq]
    return JointTrajectory(seconds(since), float(times[1] - times[0]), qpos, qvel, qacc, width)


# Joint commands as bytes (CDR: OMG DDSI-RTPS 2.5, section 10). rclpy makes an object for each of a command's 35 points,
# which takes a third of a millisecond in sender and receiver, a hundred times a second.
_LITTLE_ENDIAN = b"\0\1\0\0"  # representation of the body, which begins behind it
_STAMP = struct.Struct("<iI")
_FRAME = len(_LITTLE_ENDIAN) + _STAMP.size  # place of the frame [bytes]
_LENGTH = struct.Struct("<I")


def trajectory_to_bytes(plan: JointTrajectory, arm: ArmModel, with_finger: bool = True) -> bytes:
    """Serialize the message that `trajectory_to_msg` returns."""
    has_finger = with_finger and not np.isnan(plan.gripper_width)
    names, since = _commanded(arm)[0 if has_finger else 1], stamp(plan.start_time)
    count, joints = len(plan.qpos), len(names)
    head = b"".join((
        _LITTLE_ENDIAN, _STAMP.pack(since.sec, since.nanosec), _texts(arm.frame, names), _LENGTH.pack(count)
    ))  # fmt: skip
    points = np.zeros(count, _point_type(joints))
    for kind, values in (("positions", plan.qpos), ("velocities", plan.qvel), ("accelerations", plan.qacc)):
        points[kind][: len(values), : arm.nq] = values
        points[f"{kind}_length"] = joints
    if has_finger:
        points["positions"][:, -1] = plan.gripper_width / 2
    after = np.rint(np.arange(count) * (plan.dt * 1e9)).astype(np.int64)
    points["sec"], points["nanosec"] = np.divmod(after, 1_000_000_000)
    if not _pads(len(head)):
        return head + points.tobytes()
    points["positions_length"][0] = 0
    return b"".join((head, _LENGTH.pack(joints), points.tobytes()))


def trajectory_from_bytes(data: bytes, arm: ArmModel) -> JointTrajectory:
    """Convert a serialized joint command; errors are those of `trajectory_from_msg`."""
    for names in _commanded(arm):
        head, joints = _texts(arm.frame, names), len(names)
        end = _FRAME + len(head) + _LENGTH.size
        begin, kind = end + _pads(end) * _LENGTH.size, _point_type(joints)
        if not (data.startswith(_LITTLE_ENDIAN) and data.startswith(head, _FRAME) and len(data) > begin):
            continue
        count: int = _LENGTH.unpack_from(data, end - _LENGTH.size)[0]
        if not 0 < count * kind.itemsize <= len(data) - begin:
            continue
        points = np.frombuffer(data, kind, count, begin)
        lengths = (points["positions_length"][1:], points["velocities_length"], points["accelerations_length"])
        is_even = _LENGTH.unpack_from(data, end) == (joints,) and all((length == joints).all() for length in lengths)
        if is_even and not points["effort_length"].any() and points["sec"].min() >= 0:
            sec, nanosec = _STAMP.unpack_from(data, len(_LITTLE_ENDIAN))
            table = np.stack([points["positions"], points["velocities"], points["accelerations"]], axis=1)
            times = points["sec"] + 1e-9 * points["nanosec"]
            return _trajectory(TimeMsg(sec=sec, nanosec=nanosec), times, table, joints, arm.nq)
    try:  # from another sender, whose padding is not zero, or wrong
        message = deserialize_message(data, JointTrajectoryMsg)
    except RMWError as error:
        raise InputError(f"joint_command cannot be read: {error}") from error
    return trajectory_from_msg(message, arm)


def _pads(place: int) -> bool:
    """Return whether numbers of 8 bytes behind a length at `place` begin 4 bytes later, to be aligned in the body."""
    return (place - len(_LITTLE_ENDIAN)) % 8 == 0


@lru_cache(maxsize=16)
def _texts(frame: str, names: Sequence[str]) -> bytes:
    """Serialize a frame and joint names, which follow an aligned place."""
    parts = [_text(frame), _LENGTH.pack(len(names)), *map(_text, names)]
    return b"".join(parts)


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return _LENGTH.pack(len(data)) + data + bytes(-len(data) % 4)


@lru_cache(maxsize=16)
def _point_type(joints: int) -> np.dtype[np.void]:
    """Return the CDR layout of one point that begins 4 bytes after a multiple of 8; the next point begins so too."""
    numbers = ("<f8", (joints,))
    return np.dtype([
        ("positions_length", "<u4"), ("positions", *numbers),
        ("velocities_length", "<u4"), ("padding_1", "<u4"), ("velocities", *numbers),
        ("accelerations_length", "<u4"), ("padding_2", "<u4"), ("accelerations", *numbers),
        ("effort_length", "<u4"), ("sec", "<i4"), ("nanosec", "<u4"),
    ])  # fmt: skip


def _duration(value: float) -> DurationMsg:
    whole, nanoseconds = divmod(round(value * 1e9), 1_000_000_000)
    return DurationMsg(sec=whole, nanosec=nanoseconds)


def in_base_frame(state: JointState) -> Velocity:
    """Rotate the velocity of a base from the map frame into the base frame."""
    vx, vy, turn = state.qvel.tolist()
    return in_map_frame((vx, vy, turn), -float(state.qpos[2]))


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
    message.pose.pose, message.twist.twist = pose_to_msg(pose), velocity_to_msg(in_base_frame(state))
    return message


def odometry_from_msg(message: Odometry) -> JointState:
    """Convert odometry to the base as three joints, x [m], y [m] and yaw [rad]; raise InputError if out of range."""
    checks.quaternion("odom.pose.pose.orientation", message.pose.pose.orientation)
    state = odometry_unchecked(message)
    if not ((np.abs(state.qpos) <= checks.DISTANCE_MAX).all() and (np.abs(state.qvel) <= VELOCITY_MAX).all()):
        raise InputError(
            f"odom is at {state.qpos} and moves at {state.qvel}; it must lie within ±{checks.DISTANCE_MAX:g} m and go "
            f"no faster than {VELOCITY_MAX:g} m/s"
        )
    return state


def odometry_unchecked(message: Odometry) -> JointState:
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
