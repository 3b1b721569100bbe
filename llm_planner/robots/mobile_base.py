"""The mobile base, as simulator and controller both use it: round, holonomic, two fingers in front, a tray on top.

Lengths are in metres.
"""

from __future__ import annotations

import numpy as np

from llm_planner.robots.limits import RobotLimits

BASE_RADIUS = 0.22
BASE_HEIGHT = 0.30
BASE_MASS = 25.0  # [kg]
MOBILE_BASE = "mobile_base"  # link of the base under an arm, whose own base may be called base_link
BASE_JOINTS = ("base_x", "base_y", "base_yaw")
GRIP_REACH = 0.5  # from the centre of the base to the point between its fingers
GRIP_TOLERANCE = 0.12  # the fingers take the nearest object within this distance of that point
OPEN_WIDTH, CLOSED_WIDTH = 0.4, 0.0  # between the fingers; below half the open width they count as closed
MOTOR_LAG = 0.08  # [s] time constant of the wheels: about two thirds of a commanded velocity change

# Limits of x, y [m/s, m/s^2] and yaw [rad/s, rad/s^2]; those of x also bound the speed in the plane.
BASE_LIMITS = RobotLimits(
    qpos_min=np.full(3, -np.inf),
    qpos_max=np.full(3, np.inf),
    qvel_max=np.array([1.5, 1.5, 2.5]),
    qacc_max=np.array([4.0, 4.0, 10.0]),
    torque_max=np.full(3, np.inf),
)
