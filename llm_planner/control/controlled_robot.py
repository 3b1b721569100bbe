"""The robots that the controller plans for: limits, solids, and how a pose becomes joint positions.

A skill's motion in joint space: inverse kinematics once for each new pose of a reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.inverse_kinematics import IkSettings, IkSolution, InverseKinematics
from llm_planner.errors import InputError
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array, MotionReference
from llm_planner.robots.robots import (
    BASE_HEIGHT,
    BASE_LIMITS,
    BASE_RADIUS,
    MOTOR_LAG,
    PANDA_LIMITS,
    ArmKinematics,
    RobotLimits,
    fixed_fingers_spec,
    yaw_of,
)
from llm_planner.scene.scene import Pose

if TYPE_CHECKING:
    import mujoco


MAX_POSES = 1000


@dataclass(frozen=True)
class JointReference:
    """Where the joints should be: `qpos` (n, nq) [rad] at `start_time + k * dt` [s]; the end values hold outside.

    `position_error` [m] is the largest distance that inverse kinematics left between a pose and what the arm reaches.
    """

    start_time: float
    dt: float
    qpos: Array
    position_error: float

    def sample(self, times: Array) -> tuple[Array, Array]:
        """Positions and velocities at `times` (m,) [s], each (m, nq), linear between the given positions."""
        last = len(self.qpos) - 1
        if last == 0:
            return np.repeat(self.qpos, len(times), axis=0), np.zeros((len(times), self.qpos.shape[1]))
        place = np.clip((times - self.start_time) / self.dt, 0.0, last)
        index = np.minimum(place.astype(np.int64), last - 1)
        change = self.qpos[index + 1] - self.qpos[index]
        moving = (place > 0.0) & (place < last)
        qpos = self.qpos[index] + (place - index)[:, None] * change
        return qpos, change * (moving / self.dt)[:, None]


class Translator(Protocol):
    """Turns motion references into joint positions."""

    def translate(self, reference: MotionReference, start: Array) -> JointReference: ...

    def forget(self) -> None: ...


class DirectTranslator:
    """For a robot whose joints are coordinates of its pose; joints that turn take the short way."""

    def __init__(self, coordinates: Callable[[Pose], tuple[float, ...]], turning: NDArray[np.bool_]) -> None:
        self._coordinates, self._turning = coordinates, turning

    def translate(self, reference: MotionReference, start: Array) -> JointReference:
        """The joint positions for `reference`, for the robot at `start` (nq,) [m, rad]."""
        check_reference(reference)
        for pose in reference.poses:
            check_pose(pose)
        qpos = np.array([self._coordinates(pose) for pose in reference.poses])
        unwound = np.unwrap(np.vstack([start, qpos]), axis=0)[1:]
        return JointReference(reference.start_time, reference.dt, np.where(self._turning, unwound, qpos), 0.0)

    def forget(self) -> None:
        """Nothing is remembered."""


class ReferenceTranslator:
    """Turns gripper poses into joint positions, reusing what the previous reference already had.

    A skill streams overlapping pieces of one path, so most poses of a piece were in the last one. Each new pose is
    searched from its neighbour, which keeps the arm in one posture.
    """

    def __init__(self, inverse_kinematics: InverseKinematics) -> None:
        self._ik = inverse_kinematics
        self._reference: MotionReference | None = None
        self._solutions: tuple[IkSolution, ...] = ()  # of the poses of `_reference`
        self._translated: JointReference | None = None

    def translate(self, reference: MotionReference, start: Array) -> JointReference:
        """The joint positions for `reference`, starting from the arm at `start` (nq,) [rad]."""
        if reference is self._reference and self._translated is not None:
            return self._translated
        check_reference(reference)
        solutions = list(self._overlap(reference.poses))
        qpos = solutions[-1].qpos if solutions else start
        new = reference.poses[len(solutions) :]
        for pose in new:
            check_pose(pose)
        for pose in new:
            solutions.append(self._ik.solve(pose, qpos))
            qpos = solutions[-1].qpos
        self._reference, self._solutions = reference, tuple(solutions)
        self._translated = JointReference(
            reference.start_time,
            reference.dt,
            np.array([solution.qpos for solution in solutions]),
            max(solution.position_error for solution in solutions),
        )
        return self._translated

    def _overlap(self, poses: tuple[Pose, ...]) -> tuple[IkSolution, ...]:
        """The solutions of the first of `poses`, where these continue the previous reference from somewhere in it."""
        known = () if self._reference is None else self._reference.poses
        if poses[0] not in known:
            return ()
        first = known.index(poses[0])
        shared = min(len(known) - first, len(poses))
        if known[first : first + shared] != poses[:shared]:
            return ()
        return self._solutions[first : first + shared]

    def forget(self) -> None:
        """Drop everything known; the next reference is searched afresh from where the arm is."""
        self._reference, self._solutions, self._translated = None, (), None


def check_reference(reference: MotionReference) -> None:
    """Raises InputError that says what is wrong with a reference, its poses aside; nothing may move on a wrong one."""
    if not 1 <= len(reference.poses) <= MAX_POSES:
        raise InputError(f"a motion reference needs 1 to {MAX_POSES} poses, not {len(reference.poses)}")
    for name in ("start_time", "dt", "gripper_width", "valid_for", "speed_scale"):
        if not math.isfinite(getattr(reference, name)):
            raise InputError(f"the motion reference's {name} is not a finite number: {getattr(reference, name)}")
    if not 0.001 <= reference.dt <= 10.0:
        raise InputError(f"a motion reference's dt must lie between 0.001 and 10 s, not {reference.dt}")
    if not 0.0 < reference.speed_scale <= 1.0:
        raise InputError(f"speed_scale must lie in (0, 1], not {reference.speed_scale}")
    if reference.gripper_width < 0.0:
        raise InputError(f"gripper_width must not be negative, not {reference.gripper_width} m")


def check_pose(pose: Pose) -> None:
    """Raises InputError for a pose of wrong size, with a number that is not finite, or that is no rotation."""
    if len(pose.position) != 3 or len(pose.orientation) != 4:
        raise InputError("every pose of a motion reference needs 3 numbers of position and 4 of orientation")
    if not all(map(math.isfinite, (*pose.position, *pose.orientation))):
        raise InputError(f"a pose of the motion reference holds a number that is not finite: {pose}")
    norm = math.hypot(*pose.orientation)
    if abs(norm - 1.0) > 0.01:
        raise InputError(f"orientations must be unit quaternions (x, y, z, w); one has the norm {norm:.3g}")


@dataclass(frozen=True)
class Robot:
    """A chain of hinges and slides. `spec` has its solids and a site `gripper`, the point that poses speak of.

    `translator` makes joint positions of poses, within the limits it is given. The motion lags `lag` [s] behind what is
    commanded. `speed` [m/s] bounds the point whatever the constraints; `sliding` (nq,) says which joints shift it
    straight: no such bound lets them be faster, and where there are any, no others move the point.
    """

    limits: RobotLimits
    spec: Callable[[], mujoco.MjSpec]
    translator: Callable[[JointLimits], Translator]
    sliding: NDArray[np.bool_]
    lag: float = 0.0
    speed: float = math.inf


def arm(kinematics: ArmKinematics | None = None, ik: IkSettings | None = None) -> Robot:
    """The Panda at its table."""

    def translator(limits: JointLimits) -> Translator:
        return ReferenceTranslator(InverseKinematics(kinematics or ArmKinematics(), limits, ik))

    return Robot(PANDA_LIMITS, arm_spec, translator, np.zeros(7, dtype=bool))


def mobile_base(limits: RobotLimits = BASE_LIMITS, speed: float = math.inf) -> Robot:
    """The holonomic base: x, y [m] in the map and yaw [rad]."""
    sliding = np.array([True, True, False])
    return Robot(
        limits,
        base_spec,
        lambda _: DirectTranslator(lambda pose: (*pose.position[:2], yaw_of(pose)), ~sliding),
        sliding,
        lag=MOTOR_LAG,
        speed=speed,
    )


def drone(limits: RobotLimits, radius: float, speed: float = math.inf) -> Robot:
    """A point mass in the air: x, y, z [m], inside a sphere of `radius` [m]."""
    sliding = np.ones(3, dtype=bool)
    return Robot(
        limits,
        lambda: drone_spec(radius),
        lambda _: DirectTranslator(lambda pose: pose.position, ~sliding),
        sliding,
        speed=speed,
    )


def arm_spec() -> mujoco.MjSpec:
    """The Panda's seven joints; capsules around its links, its hand, and its fingers however wide they are open."""
    import mujoco

    spec = fixed_fingers_spec()
    for geom in list(spec.geoms):
        if geom.type != mujoco.mjtGeom.mjGEOM_CAPSULE:
            spec.delete(geom)
    hand = spec.body("panda_hand")
    for name, height, half, radius in (("hand", 0.033, 0.085, 0.047), ("fingers", 0.0855, 0.056, 0.031)):
        hand.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0.0, -half, height, 0.0, half, height],
            size=[radius, 0.0, 0.0],
        )
    return spec


def base_spec() -> mujoco.MjSpec:
    """Two slides, a hinge, and the round body; the site is its middle on the floor."""
    import mujoco

    spec, body = _moving([[1, 0, 0], [0, 1, 0]])
    body.add_joint(name="yaw", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    half = BASE_HEIGHT / 2
    body.add_geom(name="base", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=[0, 0, half], size=[BASE_RADIUS, half, 0.0])
    return spec


def drone_spec(radius: float) -> mujoco.MjSpec:
    """Three slides and a sphere."""
    import mujoco

    spec, body = _moving([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    body.add_geom(name="drone", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0.0, 0.0])
    return spec


def _moving(axes: list[list[int]]) -> tuple[mujoco.MjSpec, mujoco.MjsBody]:
    """A body on slides along `axes`, with the site at its origin."""
    import mujoco

    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="robot")
    for axis in axes:
        body.add_joint(name=f"slide {axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_site(name="gripper")
    return spec, body
