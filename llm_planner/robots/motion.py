"""Data types exchanged between skills, controller and robot, and the sampling of joint trajectories."""

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
    """Gripper poses over a short horizon, sent by a skill.

    `poses[k]` is T_base_gripper at `start_time + k * dt` [s]; the first and the last pose hold outside this interval.
    `gripper_width` [m] is commanded immediately. A reference expires `valid_for` [s] after `start_time`; the controller
    then brakes to rest and holds, so a skill that crashes stops the arm. `epoch` increases with each skill run, and
    references of an earlier run are rejected. With `of_base` the poses are T_map_base of the base that carries an arm,
    and the arm holds still. `slack` [m] is how far the hand may be off the poses without failing at what it does.
    """

    start_time: float
    dt: float
    poses: tuple[Pose, ...]
    gripper_width: float
    valid_for: float = 0.5
    speed_scale: float = 1.0  # of the controller's own limits, in (0, 1]
    epoch: int = 0
    of_base: bool = False
    slack: float = inf


@dataclass(frozen=True)
class JointState:
    """Measured arm joints: `qpos` (nq,) [rad], `qvel` (nq,) [rad/s] at `time` [s].

    `effort` (nq,) [Nm] is the torque commanded to the drives, including gravity; it is empty if the driver does not
    report it.
    """

    time: float
    qpos: Array
    qvel: Array
    effort: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class JointTrajectory:
    """Joint command with knots at `start_time + k * dt` [s], ending at rest.

    `qpos` (n+1, nq) [rad], `qvel` (n+1, nq) [rad/s], `qacc` (n, nq) [rad/s^2], constant between knots.
    `gripper_width` [m] is NaN before the first reference, which leaves the fingers where they are. A robot that
    receives no further command can follow the trajectory to its end and stand still.
    """

    start_time: float
    dt: float
    qpos: Array
    qvel: Array
    qacc: Array
    gripper_width: float


def sample(trajectory: JointTrajectory, times: Array) -> tuple[Array, Array]:
    """Sample qpos and qvel, each (n, nq), at `times` (n,) [s]; the first and the last knot hold outside the range."""
    last = len(trajectory.qacc)
    elapsed = np.minimum(np.maximum(times - trajectory.start_time, 0.0), last * trajectory.dt)
    knots = (elapsed / trajectory.dt).astype(np.intp)
    tau = (elapsed - knots * trajectory.dt)[:, None]  # 0 at the last knot, which has no acceleration
    qvel, qacc = trajectory.qvel[knots], trajectory.qacc[np.minimum(knots, last - 1)]
    return trajectory.qpos[knots] + tau * (qvel + 0.5 * tau * qacc), qvel + tau * qacc


SLOWEST = 0.005  # [m/s] lowest speed for which a path is planned


@dataclass(frozen=True)
class Observation:
    """Input of a skill in each cycle.

    The origin of `T_base_gripper` lies between the fingertips, with z out of the hand. `zones` are regions that the
    rules of the plan forbid, in addition to the obstacles in the scene. `higher` [m] raises the travel height.
    """

    time: float  # [s]
    scene: Scene
    qpos: tuple[float, ...]  # arm joints [rad]
    T_base_gripper: Pose
    gripper_width: float  # distance between the fingertips [m]
    origins: Mapping[str, Vector3] = field(default_factory=dict)  # last position of each object outside the grip [m]
    zones: tuple[Zone, ...] = ()
    speed_limit: float = inf  # present limit of the controller [m/s]; 0 means stand still
    higher: float = 0.0

    @property
    def path_speed(self) -> float:
        """Speed for planning a path [m/s], at least `SLOWEST`, because a path at speed zero never ends.

        The controller enforces a lower limit, and the hand or the base then lags behind its path.
        """
        return max(self.speed_limit, SLOWEST)

    @property
    def freedom(self) -> float:
        """Fraction of the planned speed that the limit allows, in [0, 1]; 0 if the robot must stand still."""
        return min(1.0, self.speed_limit / SLOWEST)
