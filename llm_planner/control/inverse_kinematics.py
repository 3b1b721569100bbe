"""Differential inverse kinematics: joint angles for a gripper pose, near a starting posture.

The method is damped least squares (Nakamura and Hanafusa, 1986; Wampler, 1986) with a posture task in the null space.
Each iteration takes the step

    dq = z + J^T (J J^T + damping^2 I)^-1 (error - J z),      z = posture_gain * posture_weight * (posture - q)

which moves the gripper by `error` and uses the redundant degree of freedom to approach `posture`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array
from llm_planner.robots.robots import ArmKinematics
from llm_planner.scene.scene import Pose, Quaternion


@dataclass(frozen=True)
class IkSettings:
    """Settings of the solver; tolerances are norms of the residual, in [m] for position and [rad] for rotation."""

    posture: Array  # (nq,) [rad]
    posture_weight: Array  # (nq,)
    position_tolerance: float = 1e-4
    rotation_tolerance: float = 1e-3
    max_iterations: int = 40
    damping: float = 0.02
    max_step: float = 0.3  # largest change of a joint in one iteration [rad]
    posture_gain: float = 0.1

    @classmethod
    def of(cls, arm: ArmModel) -> IkSettings:
        """Return settings that keep the posture of `arm`."""
        return cls(np.array(arm.home), np.array(arm.posture))


@dataclass(frozen=True)
class IkSolution:
    """Best joint angles found, `qpos` (nq,) [rad]; `converged` if position and rotation are within tolerance."""

    qpos: Array
    position_error: float  # [m]
    converged: bool


class InverseKinematics:
    """Inverse kinematics solver that respects the joints' position limits."""

    def __init__(self, kinematics: ArmKinematics, limits: JointLimits, settings: IkSettings) -> None:
        self._kinematics = kinematics
        self._limits = limits
        self._settings = settings
        self._damping = self._settings.damping**2 * np.eye(6)

    def solve(self, target: Pose, start: Array) -> IkSolution:
        """Solve T_base_gripper = `target`, starting at `start` (nq,) [rad]; returns the closest solution found."""
        settings = self._settings
        qpos = np.clip(start, self._limits.lower, self._limits.upper)
        best: IkSolution | None = None
        for _ in range(settings.max_iterations):
            error, jacobian = linearise(self._kinematics, qpos, target)
            solution = self._judge(qpos, error)
            if best is None or solution.position_error < best.position_error or solution.converged:
                best = solution
            if best.converged:
                break
            qpos = np.clip(qpos + self._step(qpos, error, jacobian), self._limits.lower, self._limits.upper)
        assert best is not None  # max_iterations is at least one
        return best

    def _judge(self, qpos: Array, error: Array) -> IkSolution:
        position, rotation = float(np.sqrt(error[:3] @ error[:3])), float(np.sqrt(error[3:] @ error[3:]))
        within = position <= self._settings.position_tolerance and rotation <= self._settings.rotation_tolerance
        return IkSolution(qpos, position, within)

    def _step(self, qpos: Array, error: Array, jacobian: Array) -> Array:
        settings = self._settings
        posture = settings.posture_gain * settings.posture_weight * (settings.posture - qpos)
        task = np.linalg.solve(jacobian @ jacobian.T + self._damping, error - jacobian @ posture)
        step: Array = posture + jacobian.T @ task
        largest = float(np.abs(step).max())
        return step if largest <= settings.max_step else step * (settings.max_step / largest)


def linearise(kinematics: ArmKinematics, qpos: Array, target: Pose) -> tuple[Array, Array]:
    """Compute the pose error from `qpos` to `target` and the Jacobian, in the base frame.

    Returns:
        Error (6,), translation [m] over rotation vector [rad], and the Jacobian (6, nq) with rows in this order.
    """
    position, rotation, jacobian = kinematics.jacobian(qpos)
    error = np.empty(6)
    np.subtract(target.position, position, out=error[:3])
    error[3:] = rotation_vector(rotation, target.orientation)
    return error, jacobian


def rotation_vector(rotation: Array, target: Quaternion) -> Array:
    """Return the rotation vector (3,) [rad], base frame, that turns the frame `rotation` (3, 3) into `target`."""
    import mujoco

    now, wanted, local = np.empty(4), np.array((target[3], *target[:3])), np.empty(3)
    mujoco.mju_mat2Quat(now, rotation.ravel())
    mujoco.mju_subQuat(local, wanted, now)  # in the frame `rotation`
    turned: Array = rotation @ local
    return turned
