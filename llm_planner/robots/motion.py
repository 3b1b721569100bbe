"""The values that pass between skills, controller and robot.

Samples a joint trajectory at the physics rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.scene.zones import Zone

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MotionReference:
    """Where the gripper should be in the coming moments.

    `poses[k]` is T_base_gripper at `start_time + k * dt` [s]; before the first and after the last the end poses hold.
    `gripper_width` [m] is commanded at once. A reference older than `valid_for` [s] past `start_time` is void: the
    controller then brakes to rest and holds, so a skill that dies stops the arm. `epoch` rises with each run of a
    skill: references of an earlier run are refused.
    """

    start_time: float
    dt: float
    poses: tuple[Pose, ...]
    gripper_width: float
    valid_for: float = 0.5
    speed_scale: float = 1.0  # of the controller's own limits, in (0, 1]
    epoch: int = 0


@dataclass(frozen=True)
class JointState:
    """Measured arm joints: `qpos` (nq,) [rad], `qvel` (nq,) [rad/s] at `time` [s].

    `effort` (nq,) [Nm] is what the drives were told to give, gravity included; empty where the driver does not tell it.
    """

    time: float
    qpos: Array
    qvel: Array
    effort: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class JointTrajectory:
    """What the controller commands: knots at `start_time + k * dt` [s], ending at rest.

    `qpos` (n+1, nq) [rad], `qvel` (n+1, nq) [rad/s], `qacc` (n, nq) [rad/s^2], constant between knots.
    `gripper_width` [m]; not a number (NaN) before any reference: the fingers stay as they are. A robot that hears
    nothing more can follow it to its end and stand still.
    """

    start_time: float
    dt: float
    qpos: Array
    qvel: Array
    qacc: Array
    gripper_width: float


def sample(trajectory: JointTrajectory, times: Array) -> tuple[Array, Array]:
    """qpos and qvel, each (n, nq), at `times` (n,) [s]: constant acceleration between knots, the ends hold."""
    last = len(trajectory.qacc)
    elapsed = np.minimum(np.maximum(times - trajectory.start_time, 0.0), last * trajectory.dt)
    knots = (elapsed / trajectory.dt).astype(np.intp)
    tau = (elapsed - knots * trajectory.dt)[:, None]  # 0 at the last knot, after which nothing accelerates
    qvel, qacc = trajectory.qvel[knots], trajectory.qacc[np.minimum(knots, last - 1)]
    return trajectory.qpos[knots] + tau * (qvel + 0.5 * tau * qacc), qvel + tau * qacc


SLOWEST = 0.005  # [m/s] of a path


@dataclass(frozen=True)
class Observation:
    """What a skill sees each cycle. `T_base_gripper` is the point between the fingertips, z out of the hand.

    `zones` are what its way has to keep out of besides what stands in it: what the rules of a plan forbid. `higher` [m]
    than usual is how it is to travel.
    """

    time: float  # [s]
    scene: Scene
    qpos: tuple[float, ...]  # arm joints [rad]
    T_base_gripper: Pose
    gripper_width: float  # distance between the fingertips [m]
    origins: Mapping[str, Vector3] = field(default_factory=dict)  # where each object last lay on its own [m]
    zones: tuple[Zone, ...] = ()
    speed_limit: float = inf  # of the controller, at this moment [m/s]; 0 is to stand still
    higher: float = 0.0

    @property
    def path_speed(self) -> float:
        """How fast a path may be planned [m/s]. Under a lower limit it would have no end: the controller keeps that,
        and the hand or the base stands, or creeps, behind its path."""
        return max(self.speed_limit, SLOWEST)

    @property
    def freedom(self) -> float:
        """The share of time in which the robot may be expected to move: 0 where it is to stand still, else up to 1."""
        return min(1.0, self.speed_limit / SLOWEST)
