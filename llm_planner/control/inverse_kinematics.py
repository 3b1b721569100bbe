"""Differential inverse kinematics: joint angles for a gripper pose, near a starting posture.

The method is damped least squares (Nakamura and Hanafusa, 1986; Wampler, 1986). Each iteration takes the step

    dq = A^T (A A^T + D)^-1 b,      A = [J; S],  b = [error; S (wanted - q)]

where S selects the joints with a posture weight, which use redundant degrees of freedom. `wanted` lies a fixed share of
the way from the start towards the posture, so that these joints move evenly along the poses of a path. The diagonal D
is the squared damping: of the pose it falls with the error, and of the posture it stays large, so that the pose
prevails.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array
from llm_planner.robots.robots import HOME_QPOS, ArmKinematics
from llm_planner.scene.scene import Pose, Quaternion

LEAST_DAMPING = 1e-8  # squared
YIELDING = 0.01  # squared damping of a joint with posture weight 1


@dataclass(frozen=True)
class IkSettings:
    """Settings of the solver; tolerances are norms of the residual, in [m] for position and [rad] for rotation."""

    position_tolerance: float = 1e-5
    rotation_tolerance: float = 1e-4
    max_iterations: int = 40
    damping: float = 0.02  # at errors (of the norm of 6 numbers, in [m] and [rad]) above this
    max_step: float = 0.3  # largest change of a joint in one iteration [rad]
    posture_gain: float = 0.2  # share of the way to the posture for each solution
    posture: Array = field(default_factory=lambda: np.array(HOME_QPOS))
    # Of the Panda, third joint only: at zero it keeps the elbow above the hand, in the vertical plane of the target.
    posture_weight: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))


@dataclass(frozen=True)
class IkSolution:
    """Best joint angles found, `qpos` (nq,) [rad]; `converged` if position and rotation are within tolerance."""

    qpos: Array
    position_error: float  # [m]
    converged: bool


class InverseKinematics:
    """Inverse kinematics solver that respects the joints' position limits."""

    def __init__(self, kinematics: ArmKinematics, limits: JointLimits, settings: IkSettings | None = None) -> None:
        self._kinematics = kinematics
        self._limits = limits
        self._settings = settings or IkSettings()
        weight = self._settings.posture_weight
        self._select = np.eye(len(weight))[weight > 0.0]
        self._yielding = YIELDING / weight[weight > 0.0]

    def solve(self, target: Pose, start: Array) -> IkSolution:
        """Solve T_base_gripper = `target`, starting at `start` (nq,) [rad]; returns the closest solution found."""
        settings = self._settings
        qpos = np.clip(start, self._limits.lower, self._limits.upper)
        wanted = self._select @ (qpos + settings.posture_gain * (settings.posture - qpos))
        best: IkSolution | None = None
        for _ in range(settings.max_iterations):
            error, jacobian = linearise(self._kinematics, qpos, target)
            solution = self._judge(qpos, error)
            if best is None or solution.position_error < best.position_error or solution.converged:
                best = solution
            if best.converged:
                break
            qpos = np.clip(
                qpos + self._step(jacobian, error, wanted - self._select @ qpos), self._limits.lower, self._limits.upper
            )
        assert best is not None  # max_iterations is at least one
        return best

    def _judge(self, qpos: Array, error: Array) -> IkSolution:
        position, rotation = float(np.sqrt(error[:3] @ error[:3])), float(np.sqrt(error[3:] @ error[3:]))
        within = position <= self._settings.position_tolerance and rotation <= self._settings.rotation_tolerance
        return IkSolution(qpos, position, within)

    def _step(self, jacobian: Array, error: Array, posture: Array) -> Array:
        settings = self._settings
        damping = min(settings.damping**2, float(error @ error)) + LEAST_DAMPING
        rows = np.concatenate([jacobian, self._select])
        square = rows @ rows.T
        square.ravel()[:: len(square) + 1] += np.concatenate([np.full(6, damping), self._yielding])
        step: Array = np.linalg.solve(square, np.concatenate([error, posture])) @ rows
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
