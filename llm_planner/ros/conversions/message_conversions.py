"""Conversions between ROS messages and dataclasses: scenes, poses, joint states, trajectories, references, images.

Dataclasses hold times in seconds, messages hold stamps. `SceneReader` reads a stream of scenes and tolerates objects
that it cannot read. Plans and constraints are in `plan_messages`, mobile bases in `base_messages`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence

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
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.arm_model import ArmModel, arm_model, arm_shape
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.ros.conversions import base_messages as bases
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.scene.driven_base import driven_to
from llm_planner.scene.geometry import UNKNOWN_SIZE, completed
from llm_planner.scene.scene import Pose, Scene, SceneObject

NOT_MEASURED = Pose((float("nan"),) * 3)
MAGNITUDE_MAX = 1e3  # [rad, rad/s, rad/s^2, Nm] far beyond any arm; keeps arithmetic finite
WIDTH_MAX = 1.0  # [m] between fingers
SPEED_MAX = 100.0  # [m/s]
NUMBER_MAX = 1e6  # of a skill argument, in any unit
OBJECTS_MAX, ARGUMENTS_MAX, PIXELS_MAX = 256, 64, 10_000


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


def scene_to_msg(scene: Scene, frame: str, world: str = "", run: int = 0) -> SceneMsg:
    """Convert a scene; `frame` is that of the arm's base, in which its objects are."""
    building = scene.base.building if scene.base else scene.building
    return SceneMsg(
        header=header(scene.time, bases.MAP_FRAME if scene.building else frame),
        run=run,
        world=world,
        objects=[_object_to_msg(item) for item in scene.objects],
        held=scene.held,
        robot=pose_to_msg(scene.robot or NOT_MEASURED),
        speed=scene.speed,
        rooms=bases.rooms_to_msg(building),
        doors=bases.doors_to_msg(building),
        base=pose_to_msg(scene.base.pose) if scene.base else PoseMsg(),
    )


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
    where, base = message.robot.position, bases.driven_base_from_msg(message, arm_model(arm))
    is_measured = not all(map(math.isnan, (where.x, where.y, where.z)))
    return Scene(
        seconds(message.header.stamp, "scene.header.stamp"),
        _objects_from_msg(message.objects, left_out),
        checks.name("scene.held", message.held) if message.held else "",
        pose_from_msg(message.robot, "scene.robot") if is_measured else None,
        checks.number("scene.speed", message.speed, 0.0, SPEED_MAX),
        None if base else bases.building_from_msg(message),
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


def _object_to_msg(item: SceneObject) -> SceneObjectMsg:
    size = Vector3Msg(x=item.size[0], y=item.size[1], z=item.size[2])
    pose = pose_to_msg(Pose(item.position, item.orientation))
    return SceneObjectMsg(name=item.name, kind=item.kind, color=item.color, pose=pose, size=size, state=item.state)


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
    state, width = joint_state_as_told(message, arm, fingers)
    for name, values in (("position", state.qpos), ("velocity", state.qvel), ("effort", state.effort)):
        if not all(-MAGNITUDE_MAX <= value <= MAGNITUDE_MAX for value in values.tolist()):
            told = np.array2string(values, precision=3)
            raise InputError(f"{name} of joint_states is {told}; its numbers must lie within ±{MAGNITUDE_MAX:g}")
    if fingers:
        checks.number("the width between the fingers in joint_states", width, -WIDTH_MAX, WIDTH_MAX)
    return state, width


def joint_state_as_told(message: JointStateMsg, arm: Sequence[str], fingers: Sequence[str]) -> tuple[JointState, float]:
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
    names, nq = tuple(message.joint_names), arm.nq
    if names not in ((*arm.joints, arm.finger), arm.joints):
        wanted = f"{', '.join(arm.joints)} and may add {arm.finger}"
        raise InputError(f"joint_command names {', '.join(names)[:200] or 'nothing'}; it must name {wanted}")
    checks.items("points of joint_command", message.points)
    times = np.array([seconds(point.time_from_start, "time_from_start") for point in message.points])
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
    width = float("nan")
    if len(names) > nq:
        told = 2 * float(table[0, 0, nq])
        width = checks.number("the width between the fingers in joint_command", told, 0.0, WIDTH_MAX)
    qpos, qvel, qacc = table[:, 0, :nq], table[:, 1, :nq], table[:-1, 2, :nq]
    return JointTrajectory(seconds(message.header.stamp), float(times[1] - times[0]), qpos, qvel, qacc, width)


def _duration(value: float) -> DurationMsg:
    nanoseconds = round(value * 1e9)
    return DurationMsg(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def reference_to_msg(reference: MotionReference, frame: str) -> MotionReferenceMsg:
    """Convert a reference; `frame` is that of the robot, unless the reference is of the base that carries an arm."""
    return MotionReferenceMsg(
        header=header(reference.start_time, bases.MAP_FRAME if reference.of_base else frame),
        dt=reference.dt,
        poses=[pose_to_msg(pose) for pose in reference.poses],
        gripper_width=reference.gripper_width,
        valid_for=reference.valid_for,
        speed_scale=reference.speed_scale,
        epoch=reference.epoch,
    )


def reference_from_msg(message: MotionReferenceMsg) -> MotionReference | None:
    """Convert a reference; return None for one without poses, which means: brake now.

    Raises:
        InputError: A value is out of range.
    """
    if not message.poses:
        return None
    checks.items("motion_reference.poses", message.poses)
    return MotionReference(
        seconds(message.header.stamp, "motion_reference.header.stamp"),
        checks.number("motion_reference.dt", message.dt, DT_MIN, 10.0),
        tuple(pose_from_msg(pose, f"motion_reference.poses[{k}]") for k, pose in enumerate(message.poses)),
        checks.number("motion_reference.gripper_width", message.gripper_width, 0.0, WIDTH_MAX),
        checks.number("motion_reference.valid_for", message.valid_for, 0.0, 10.0),
        checks.number("motion_reference.speed_scale", message.speed_scale, 0.0, 1.0),
        message.epoch,
        message.header.frame_id == bases.MAP_FRAME,
    )


def no_motion(time: float, frame: str) -> MotionReferenceMsg:
    """Make the reference message that ends a motion at once."""
    return MotionReferenceMsg(header=header(time, frame))


def arguments_to_msg(arguments: Mapping[str, Argument]) -> list[SkillArgument]:
    return [_argument_to_msg(name, value) for name, value in arguments.items()]


def _argument_to_msg(name: str, value: Argument) -> SkillArgument:
    if isinstance(value, str):
        return SkillArgument(name=name, type=SkillArgument.WORD, word=value)
    if isinstance(value, tuple):
        x, y, z = value
        return SkillArgument(name=name, type=SkillArgument.POINT, point=PointMsg(x=x, y=y, z=z))
    return SkillArgument(name=name, type=SkillArgument.NUMBER, number=float(value))


def arguments_from_msg(messages: Sequence[SkillArgument]) -> dict[str, Argument]:
    """Convert skill arguments; raise InputError for unknown types, duplicate names and values out of range."""
    checks.items("arguments", messages, ARGUMENTS_MAX)
    checks.unique("the names of arguments", [message.name for message in messages])
    return {message.name: _argument_from_msg(message) for message in messages}


def _argument_from_msg(message: SkillArgument) -> Argument:
    field = f"the argument {checks.text('the name of an argument', message.name, checks.NAME_MAX)!r}"
    if message.type == SkillArgument.WORD:
        return checks.text(field, message.word)
    if message.type == SkillArgument.NUMBER:
        return checks.number(field, message.number, -NUMBER_MAX, NUMBER_MAX)
    if message.type == SkillArgument.POINT:
        return checks.point(field, message.point)
    raise InputError(f"{field} has the type {message.type}; the types are WORD, NUMBER and POINT")


def image_from_msg(message: ImageMsg) -> np.ndarray:
    """Convert an rgb8 image to an array (height, width, 3) of uint8; raise InputError for other encodings or sizes."""
    height, width, row = message.height, message.width, 3 * message.width
    fits = 0 < width <= PIXELS_MAX and 0 < height <= PIXELS_MAX and row <= message.step
    if message.encoding != "rgb8" or not fits or len(message.data) != height * message.step:
        raise InputError(
            f"a picture of {len(message.data)} bytes, {message.encoding[:40]!a}, {width} x {height} in rows of "
            f"{message.step}, cannot be read; it must be rgb8, of 1 to {PIXELS_MAX} pixels a side"
        )
    rows = np.frombuffer(message.data, np.uint8).reshape(height, message.step)
    return rows[:, :row].reshape(height, width, 3)


def image_to_msg(picture: np.ndarray, time: float, frame: str) -> ImageMsg:
    """Convert an RGB array (height, width, 3) of uint8, taken at `time` [s] in `frame`, to an rgb8 image."""
    height, width, _ = picture.shape
    data = array("B", picture.tobytes())
    return ImageMsg(header=header(time, frame), height=height, width=width, encoding="rgb8", step=3 * width, data=data)


class SceneReader:
    """Reads a stream of scenes of an `arm`; `tell(sentence)` is called for every flaw. For one owner, not shared."""

    def __init__(self, tell: Callable[[str], None], arm: str = Scene.arm) -> None:
        self._tell, self._arm = tell, arm
        self._before: Scene | None = None
        self._run = 0

    def read(self, message: SceneMsg) -> Scene:
        """Convert the next scene.

        An unreadable object keeps its last known place, or is left out if it was never seen. A held object that is not
        listed is placed in the hand.

        Raises:
            InputError: The scene is unusable; the reader keeps the scene before it.
        """
        left_out: dict[str, str] = {}
        seen = scene_from_msg(message, left_out, self._arm)
        before = self._before if message.run == self._run else None
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
        self._before, self._run = scene, message.run
        return scene
