"""Where ROS messages meet our dataclasses; times are seconds here, stamps there.

Plans and constraints have `plan_messages`, mobile bases `base_messages`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from builtin_interfaces.msg import Duration as DurationMsg
from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Quaternion as QuaternionMsg
from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import Vector3 as Vector3Msg
from llm_planner_interfaces.msg import MotionReference as MotionReferenceMsg
from llm_planner_interfaces.msg import Scene as SceneMsg
from llm_planner_interfaces.msg import SceneObject as SceneObjectMsg
from llm_planner_interfaces.msg import SkillArgument
from sensor_msgs.msg import Image as ImageMsg
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from llm_planner.control.reference import JointState, JointTrajectory, MotionReference
from llm_planner.errors import InputError
from llm_planner.nodes.base_messages import MAP_FRAME, building_from_msg, doors_to_msg, rooms_to_msg
from llm_planner.nodes.stamps import header as stamped
from llm_planner.nodes.stamps import seconds
from llm_planner.simulation.panda import ARM_JOINTS, FINGER_JOINTS
from llm_planner.skills.contract import Argument
from llm_planner.world.scene import Pose, Scene, SceneObject

BASE_FRAME = "panda_link0"
JOINTS = (*ARM_JOINTS, *FINGER_JOINTS)
NQ = len(ARM_JOINTS)
NOT_MEASURED = Pose((float("nan"),) * 3)
COMMANDED_JOINTS = (*ARM_JOINTS, FINGER_JOINTS[0])  # the second finger mirrors the first


def header(time: float, frame: str = BASE_FRAME) -> Header:
    return stamped(time, frame)


def pose_to_msg(pose: Pose) -> PoseMsg:
    x, y, z = pose.position
    qx, qy, qz, qw = pose.orientation
    return PoseMsg(position=PointMsg(x=x, y=y, z=z), orientation=QuaternionMsg(x=qx, y=qy, z=qz, w=qw))


def pose_from_msg(message: PoseMsg) -> Pose:
    p, q = message.position, message.orientation
    return Pose((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_to_msg(time: float, child: str, pose: Pose, frame: str = BASE_FRAME) -> TransformStamped:
    """The frame `child` at `pose` in `frame`."""
    message = TransformStamped(header=header(time, frame), child_frame_id=child)
    x, y, z = pose.position
    message.transform.translation = Vector3Msg(x=x, y=y, z=z)
    message.transform.rotation = pose_to_msg(pose).orientation
    return message


def scene_to_msg(scene: Scene, world: str = "", run: int = 0) -> SceneMsg:
    return SceneMsg(
        header=header(scene.time, MAP_FRAME if scene.building else BASE_FRAME),
        run=run,
        world=world,
        objects=[_object_to_msg(item) for item in scene.objects],
        held=scene.held,
        robot=pose_to_msg(scene.robot or NOT_MEASURED),
        speed=scene.speed,
        rooms=rooms_to_msg(scene.building),
        doors=doors_to_msg(scene.building),
    )


def scene_from_msg(message: SceneMsg) -> Scene:
    robot = pose_from_msg(message.robot)
    return Scene(
        seconds(message.header.stamp),
        tuple(map(_object_from_msg, message.objects)),
        message.held,
        None if np.isnan(robot.position[0]) else robot,
        message.speed,
        building_from_msg(message),
    )


def _object_to_msg(item: SceneObject) -> SceneObjectMsg:
    size = Vector3Msg(x=item.size[0], y=item.size[1], z=item.size[2])
    pose = pose_to_msg(Pose(item.position, item.orientation))
    return SceneObjectMsg(name=item.name, kind=item.kind, color=item.color, pose=pose, size=size, state=item.state)


def _object_from_msg(message: SceneObjectMsg) -> SceneObject:
    pose = pose_from_msg(message.pose)
    size = (message.size.x, message.size.y, message.size.z)
    return SceneObject(message.name, message.kind, message.color, pose.position, pose.orientation, size, message.state)


def joint_state_to_msg(state: JointState, gripper_width: float) -> JointStateMsg:
    """Arm and fingers; each finger carries half the width. The fingers' effort is not told apart from none."""
    finger, efforts = gripper_width / 2, state.effort.tolist()
    return JointStateMsg(
        header=header(state.time),
        name=JOINTS,
        position=array("d", [*state.qpos.tolist(), finger, finger]),
        velocity=array("d", [*state.qvel.tolist(), 0.0, 0.0]),
        effort=array("d", [*efforts, 0.0, 0.0] if efforts else []),
    )


def joint_state_from_msg(
    message: JointStateMsg, arm: Sequence[str] = ARM_JOINTS, fingers: Sequence[str] = FINGER_JOINTS
) -> tuple[JointState, float]:
    """The state of the joints `arm` and the gripper's width [m], whatever their order and whatever else there is.

    The width is not a number (NaN) where there are no `fingers`. Raises InputError naming the joints that are missing.
    """
    joints = (*arm, *fingers)
    order = range(len(joints)) if tuple(message.name) == joints else _order(message.name, joints)
    if len(message.position) < len(message.name) or 0 < len(message.velocity) < len(message.name):
        raise InputError(
            f"joint_states names {len(message.name)} joints but does not give each a position and a velocity"
        )
    position = [message.position[index] for index in order]
    velocity = [message.velocity[index] for index in order[:NQ]] if message.velocity else [0.0] * NQ
    effort = [message.effort[index] for index in order[:NQ]] if len(message.effort) == len(message.name) else []
    state = JointState(seconds(message.header.stamp), np.array(position[:NQ]), np.array(velocity), np.array(effort))
    return state, sum(position[NQ:]) if fingers else float("nan")


def _order(names: Sequence[str], joints: Sequence[str]) -> list[int]:
    index = {name: place for place, name in enumerate(names)}
    missing = [name for name in joints if name not in index]
    if missing:
        raise InputError(f"joint_states lacks {', '.join(missing)}; it holds: {', '.join(names) or 'nothing'}")
    return [index[name] for name in joints]


def trajectory_to_msg(
    trajectory: JointTrajectory, arm: Sequence[str] = ARM_JOINTS, finger: Sequence[str] = FINGER_JOINTS[:1]
) -> JointTrajectoryMsg:
    """The joints `arm` and the `finger`, if any; a width that is not a number leaves it out: it stays as it is."""
    fingers = [] if np.isnan(trajectory.gripper_width) or not finger else [trajectory.gripper_width / 2]
    still = [0.0] * len(fingers)
    qacc = [*trajectory.qacc.tolist(), [0.0] * trajectory.qacc.shape[1]]
    points = [
        JointTrajectoryPoint(
            positions=array("d", [*qpos, *fingers]),
            velocities=array("d", [*qvel, *still]),
            accelerations=array("d", [*acceleration, *still]),
            time_from_start=_duration(k * trajectory.dt),
        )
        for k, (qpos, qvel, acceleration) in enumerate(
            zip(trajectory.qpos.tolist(), trajectory.qvel.tolist(), qacc, strict=True)
        )
    ]
    names = [*arm, *finger] if fingers else list(arm)
    return JointTrajectoryMsg(header=header(trajectory.start_time), joint_names=names, points=points)


DT_MIN = 1e-3  # [s] between the points of a command: finer ones are a mistake
MAGNITUDE_MAX = 1e3  # [rad, rad/s, rad/s^2] far beyond any arm; keeps arithmetic finite


def trajectory_from_msg(message: JointTrajectoryMsg) -> JointTrajectory:
    """Raises InputError for other joints, for fewer than two points, and for points that are not evenly spaced."""
    names = tuple(message.joint_names)
    if names not in (COMMANDED_JOINTS, ARM_JOINTS):
        wanted = f"{', '.join(ARM_JOINTS)} and may add {FINGER_JOINTS[0]}"
        raise InputError(f"joint_command names {', '.join(names) or 'nothing'}; it must name {wanted}")
    times = np.array([seconds(point.time_from_start) for point in message.points])
    if len(times) < 2 or np.ptp(np.diff(times)) > 1e-6 or times[1] - times[0] < DT_MIN:
        raise InputError(f"joint_command needs at least two points, evenly spaced in time, {DT_MIN} s apart or more")
    try:
        rows = [(point.positions, point.velocities, point.accelerations) for point in message.points]
        table = np.array(rows)  # (n+1, 3, joints)
    except ValueError as error:
        raise InputError("every point of joint_command needs positions, velocities and accelerations") from error
    if table.shape != (len(times), 3, len(names)) or not np.isfinite(table).all():
        raise InputError("every point of joint_command needs one finite position, velocity and acceleration a joint")
    if np.abs(table).max() > MAGNITUDE_MAX:
        raise InputError(f"no position, velocity or acceleration of joint_command may exceed {MAGNITUDE_MAX:g}")
    width = 2 * float(table[0, 0, NQ]) if len(names) > NQ else float("nan")
    qpos, qvel, qacc = table[:, 0, :NQ], table[:, 1, :NQ], table[:-1, 2, :NQ]
    return JointTrajectory(seconds(message.header.stamp), float(times[1] - times[0]), qpos, qvel, qacc, width)


def _duration(value: float) -> DurationMsg:
    nanoseconds = round(value * 1e9)
    return DurationMsg(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def reference_to_msg(reference: MotionReference) -> MotionReferenceMsg:
    return MotionReferenceMsg(
        header=header(reference.start_time),
        dt=reference.dt,
        poses=[pose_to_msg(pose) for pose in reference.poses],
        gripper_width=reference.gripper_width,
        valid_for=reference.valid_for,
        speed_scale=reference.speed_scale,
        epoch=reference.epoch,
    )


def reference_from_msg(message: MotionReferenceMsg) -> MotionReference | None:
    """None for a reference without poses, which says: no more motion, brake now."""
    if not message.poses:
        return None
    return MotionReference(
        seconds(message.header.stamp),
        message.dt,
        tuple(map(pose_from_msg, message.poses)),
        message.gripper_width,
        message.valid_for,
        message.speed_scale,
        message.epoch,
    )


def no_motion(time: float) -> MotionReferenceMsg:
    """The message that ends a motion at once."""
    return MotionReferenceMsg(header=header(time))


def arguments_to_msg(arguments: Mapping[str, Argument]) -> list[SkillArgument]:
    return [_argument_to_msg(name, value) for name, value in arguments.items()]


def _argument_to_msg(name: str, value: Argument) -> SkillArgument:
    if isinstance(value, str):
        return SkillArgument(name=name, type=SkillArgument.WORD, word=value)
    if isinstance(value, tuple):
        x, y, z = value
        return SkillArgument(name=name, type=SkillArgument.POINT, point=PointMsg(x=x, y=y, z=z))
    return SkillArgument(name=name, type=SkillArgument.NUMBER, number=float(value))


def arguments_from_msg(messages: Iterable[SkillArgument]) -> dict[str, Argument]:
    """Raises InputError for an argument of a type that does not exist."""
    return {message.name: _argument_from_msg(message) for message in messages}


def _argument_from_msg(message: SkillArgument) -> Argument:
    if message.type == SkillArgument.WORD:
        return message.word
    if message.type == SkillArgument.NUMBER:
        return message.number
    if message.type == SkillArgument.POINT:
        return message.point.x, message.point.y, message.point.z
    raise InputError(f"the argument {message.name!r} has the type {message.type}; the types are WORD, NUMBER and POINT")


def image_from_msg(message: ImageMsg) -> np.ndarray:
    """The picture (height, width, 3) of bytes, red green blue; raises InputError for another encoding or size."""
    height, width, row = message.height, message.width, 3 * message.width
    if message.encoding != "rgb8" or message.step < row or len(message.data) != height * message.step:
        raise InputError(
            f"a picture of {len(message.data)} bytes, {message.encoding}, {width} x {height} in rows of {message.step}"
            ", cannot be read; it must be rgb8"
        )
    rows = np.frombuffer(message.data, np.uint8).reshape(height, message.step)
    return rows[:, :row].reshape(height, width, 3)


def image_to_msg(picture: np.ndarray, time: float, frame: str) -> ImageMsg:
    """A picture (height, width, 3) of bytes, red green blue."""
    height, width, _ = picture.shape
    data = array("B", picture.tobytes())
    return ImageMsg(header=header(time, frame), height=height, width=width, encoding="rgb8", step=3 * width, data=data)
