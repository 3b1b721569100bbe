"""The values that pass between skills, controller and robot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from llm_planner.world.scene import Pose

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
