"""Robots that the controller plans for: their limits, solids, and translation of poses to joint positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.input_validation import check_reference
from llm_planner.control.inverse_kinematics import IkSettings, IkSolution, InverseKinematics
from llm_planner.robots.arm_model import ArmKinematics, ArmModel
from llm_planner.robots.limits import JointLimits, RobotLimits
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import Array, MotionReference
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.scene import Pose

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class JointReference:
    """Joint positions and velocities, each (n, nq), at `start_time + k * dt` [s], joined by cubic curves.

    Outside the range the nearest position holds.
    """

    start_time: float
    dt: float
    qpos: Array
    qvel: Array

    @classmethod
    def through(cls, start_time: float, dt: float, qpos: Array, before: Sequence[Array] = ()) -> JointReference:
        """Return the curve through `qpos` (n, nq), with velocities from central differences of fourth order.

        `before` has up to two positions (nq,) that came before the first one in steps of `dt`.
        """
        known = np.array([*before, *qpos, qpos[-1], qpos[-1]])
        missing = np.arange(2 - len(before), 0, -1)
        known = np.concatenate([known[0] - missing[:, None] * (known[1] - known[0]), known])
        return cls(start_time, dt, qpos, (8.0 * (known[3:-1] - known[1:-3]) - known[4:] + known[:-4]) / (12.0 * dt))

    def sample(self, times: Array) -> tuple[Array, Array]:
        """Interpolate positions and velocities, each (m, nq), at `times` (m,) [s]."""
        last = len(self.qpos) - 1
        if last == 0:
            return np.repeat(self.qpos, len(times), axis=0), np.zeros((len(times), self.qpos.shape[1]))
        place = (times - self.start_time) / self.dt
        moving = (place > -1e-6) & (place < last)
        place = np.minimum(np.maximum(place, 0.0), last)
        index = np.minimum(place.astype(np.intp), last - 1)
        tau = (place - index)[:, None]
        before, after = self.qpos[index], self.qpos[index + 1]
        slope, next_slope = self.dt * self.qvel[index], self.dt * self.qvel[index + 1]
        change = after - before
        bend, twist = 3.0 * change - 2.0 * slope - next_slope, slope + next_slope - 2.0 * change
        qpos = before + tau * (slope + tau * (bend + tau * twist))
        return qpos, (slope + tau * (2.0 * bend + 3.0 * tau * twist)) * (moving / self.dt)[:, None]


class Translator(Protocol):
    """Converter of motion references to joint positions."""

    def translate(self, reference: MotionReference, start: Array) -> JointReference: ...

    def forget(self) -> None: ...


class DirectTranslator:
    """Translator for a robot whose joints are coordinates of its pose; turning joints take the shorter way."""

    def __init__(self, coordinates: Callable[[Pose], tuple[float, ...]], turning: NDArray[np.bool_]) -> None:
        self._coordinates, self._turning = coordinates, turning

    def translate(self, reference: MotionReference, start: Array) -> JointReference:
        """Compute the joint positions for `reference`, with the robot at `start` (nq,) [m, rad]."""
        check_reference(reference)
        qpos = np.array([self._coordinates(pose) for pose in reference.poses])
        unwound = np.unwrap(np.vstack([start, qpos]), axis=0)[1:]
        return JointReference.through(reference.start_time, reference.dt, np.where(self._turning, unwound, qpos))

    def forget(self) -> None:
        """Do nothing, because this translator has no state."""


class ReferenceTranslator:
    """Translator that solves inverse kinematics once for each new pose of a reference.

    A skill streams overlapping segments of one path, so the solutions of the previous reference cover most poses. Each
    new pose is solved from its neighbour, which keeps the arm in one posture.
    """

    def __init__(self, inverse_kinematics: InverseKinematics) -> None:
        self._ik = inverse_kinematics
        self._reference: MotionReference | None = None
        self._solutions: tuple[IkSolution, ...] = ()  # of the poses of `_reference`
        self._before: tuple[Array, ...] = ()  # joints at the last two poses before these
        self._translated: JointReference | None = None

    def translate(self, reference: MotionReference, start: Array) -> JointReference:
        """Compute the joint positions for `reference`, with the arm at `start` (nq,) [rad]."""
        if reference is self._reference and self._translated is not None:
            return self._translated
        check_reference(reference)
        solutions = list(self._overlap(reference.poses))
        qpos = solutions[-1].qpos if solutions else start
        for pose in reference.poses[len(solutions) :]:
            solutions.append(self._ik.solve(pose, qpos))
            qpos = solutions[-1].qpos
        self._reference, self._solutions = reference, tuple(solutions)
        joints = np.array([solution.qpos for solution in solutions])
        self._translated = JointReference.through(reference.start_time, reference.dt, joints, self._before)
        return self._translated

    def _overlap(self, poses: tuple[Pose, ...]) -> tuple[IkSolution, ...]:
        """Return the known solutions of the leading `poses` that continue the previous reference."""
        known = () if self._reference is None else self._reference.poses
        first = known.index(poses[0]) if poses[0] in known else len(known)
        shared = min(len(known) - first, len(poses))
        if not shared or known[first : first + shared] != poses[:shared]:
            self._before = ()
            return ()
        self._before = (*self._before, *(solution.qpos for solution in self._solutions[:first]))[-2:]
        return self._solutions[first : first + shared]

    def forget(self) -> None:
        """Forget all solutions, so that the next reference is solved from the arm's position."""
        self._reference, self._solutions, self._before, self._translated = None, (), (), None


@dataclass(frozen=True)
class Robot:
    """Chain of hinge and slide joints.

    Attributes:
        limits: Joint limits.
        spec: Makes the MuJoCo spec, with the robot's solids and a site `gripper`, the point that poses refer to.
        translator: Makes a translator of poses to joint positions within the given limits.
        sliding: Mask of the slide joints that move the point, (nq,). Speed limits bound each of them. If there are any,
            no other joint moves the point.
        lag: Delay of the motion behind the command [s].
        speed: Limit for the speed of the point, in addition to the constraints [m/s].
    """

    limits: RobotLimits
    spec: Callable[[], mujoco.MjSpec]
    translator: Callable[[JointLimits], Translator]
    sliding: NDArray[np.bool_]
    lag: float = 0.0
    speed: float = math.inf


def arm(model: ArmModel, kinematics: ArmKinematics | None = None) -> Robot:
    """Return an arm as the controller sees it; its `kinematics` may be shared."""

    def translator(limits: JointLimits) -> Translator:
        known = kinematics or model.kinematics()
        return ReferenceTranslator(InverseKinematics(known, limits, IkSettings.of(model)))

    return Robot(model.limits, model.collision_spec, translator, np.zeros(model.nq, dtype=bool))


def mobile_base(limits: RobotLimits = BASE_LIMITS, speed: float = math.inf) -> Robot:
    """Return the holonomic base with the joints x, y [m] in the map and yaw [rad]; `speed` [m/s] bounds its centre."""
    sliding = np.array([True, True, False])
    return Robot(
        limits,
        base_spec,
        lambda _: DirectTranslator(lambda pose: (*pose.position[:2], yaw_of(pose)), ~sliding),
        sliding,
        lag=MOTOR_LAG,
        speed=speed,
    )


def base_spec() -> mujoco.MjSpec:
    """Build the base from two slides, a hinge and a cylinder; the site is its centre on the floor."""
    import mujoco

    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="robot")
    for axis in ([1, 0, 0], [0, 1, 0]):
        body.add_joint(name=f"slide {axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_site(name="gripper")
    body.add_joint(name="yaw", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    half = BASE_HEIGHT / 2
    body.add_geom(name="base", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=[0, 0, half], size=[BASE_RADIUS, half, 0.0])
    return spec
