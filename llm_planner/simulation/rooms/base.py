"""The mobile robot: a round, holonomic base with two fingers in front and a tray on top. Lengths in metres."""

from __future__ import annotations

import math

import numpy as np

from llm_planner.simulation.panda import RobotLimits
from llm_planner.world.scene import Pose

BASE_RADIUS = 0.22
BASE_HEIGHT = 0.30
BASE_MASS = 25.0  # [kg]
BASE_JOINTS = ("base_x", "base_y", "base_yaw")
GRIP_REACH = 0.5  # from the base's middle to the point between its fingers
GRIP_TOLERANCE = 0.12  # the fingers take the nearest thing that lies at most this far from that point
OPEN_WIDTH, CLOSED_WIDTH = 0.4, 0.0  # between the fingers; below half of the first they are closed
MOTOR_LAG = 0.08  # [s] in which the wheels come to about two thirds of a commanded change of velocity

# Of x, y [m/s, m/s^2] and yaw [rad/s, rad/s^2]; those of x hold for the speed in the plane.
BASE_LIMITS = RobotLimits(
    qpos_min=np.full(3, -np.inf),
    qpos_max=np.full(3, np.inf),
    qvel_max=np.array([1.5, 1.5, 2.5]),
    qacc_max=np.array([4.0, 4.0, 10.0]),
    torque_max=np.full(3, np.inf),
)


def base_pose(x: float, y: float, yaw: float) -> Pose:
    """T_map_base: on the floor, z up, x forward."""
    return Pose((x, y, 0.0), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))


def yaw_of(pose: Pose) -> float:
    """The angle by which an upright pose is turned about z [rad], in (-pi, pi]."""
    _, _, z, w = pose.orientation
    return math.remainder(2.0 * math.atan2(z, w), math.tau)
