"""The robots that the controller plans for: limits, solids, and how a pose becomes joint positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.joint_reference import DirectTranslator, ReferenceTranslator, Translator
from llm_planner.control.limits import JointLimits
from llm_planner.simulation.panda import PANDA_LIMITS, ArmKinematics, RobotLimits, fixed_fingers_spec
from llm_planner.simulation.rooms.base import BASE_HEIGHT, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG, yaw_of

if TYPE_CHECKING:
    import mujoco


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
