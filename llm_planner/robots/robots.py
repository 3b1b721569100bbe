"""What arms have in common, and the mobile base, as the simulator and the controller both use them.

An arm's own numbers are in its folder (see `arm_file`). The mobile robot is a round holonomic base with two fingers in
front and a tray on top. Lengths are in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.scene.scene import Pose

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]


@dataclass(frozen=True)
class RobotLimits:
    """Limits of the joints, each (nq,), in [rad], [rad/s], [rad/s^2] and [Nm]."""

    qpos_min: Array
    qpos_max: Array
    qvel_max: Array
    qacc_max: Array
    torque_max: Array


class ArmKinematics:
    """Forward kinematics and Jacobian of the grasp point in the base frame."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Use the arm `model`, with fixed fingers and a site `gripper`."""
        import mujoco

        self._mujoco = mujoco
        self.model = model
        self._data = mujoco.MjData(self.model)
        self._site = self.model.site("gripper").id
        self._jacobian = np.zeros((6, self.model.nv))

    def forward(self, qpos: Array) -> tuple[Array, Array]:
        """Compute the gripper's position (3,) [m] and rotation matrix (3, 3), base frame, at `qpos` (nq,) [rad]."""
        self._data.qpos[:] = qpos
        self._mujoco.mj_kinematics(self.model, self._data)
        return self._data.site_xpos[self._site].copy(), self._data.site_xmat[self._site].reshape(3, 3).copy()

    def jacobian(self, qpos: Array) -> tuple[Array, Array, Array]:
        """Compute the gripper pose of `forward` and its Jacobian.

        Returns:
            Position (3,) [m], rotation matrix (3, 3), and J (6, nq) with (v, w) = J @ qvel: linear velocity [m/s] over
            angular velocity [rad/s]. All are in the base frame.
        """
        position, rotation = self.forward(qpos)
        self._mujoco.mj_comPos(self.model, self._data)
        self._mujoco.mj_jacSite(self.model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
        return position, rotation, self._jacobian.copy()

    def pose(self, qpos: Array) -> Pose:
        """Compute T_base_gripper at `qpos` (nq,) [rad]."""
        position, rotation = self.forward(qpos)
        quaternion = np.zeros(4)  # (w, x, y, z)
        self._mujoco.mju_mat2Quat(quaternion, rotation.ravel())
        return pose_from_mujoco(position, quaternion)


def pose_from_mujoco(position: Array, quaternion: Array) -> Pose:
    """Convert MuJoCo's position (3,) [m] and quaternion (w, x, y, z) to a Pose."""
    x, y, z = position.tolist()
    qw, qx, qy, qz = quaternion.tolist()
    return Pose((x, y, z), (qx, qy, qz, qw))


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


def base_pose(x: float, y: float, yaw: float) -> Pose:
    """Return T_map_base for a base on the floor at `x`, `y` [m] and `yaw` [rad], with z up and x forward."""
    return Pose((x, y, 0.0), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))


def yaw_of(pose: Pose) -> float:
    """Return the rotation of an upright pose about z [rad], in (-pi, pi]."""
    _, _, z, w = pose.orientation
    return math.remainder(2.0 * math.atan2(z, w), math.tau)
