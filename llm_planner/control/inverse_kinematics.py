"""Differential inverse kinematics: joint angles for a gripper pose, near a starting posture.

The method is damped least squares (Nakamura and Hanafusa, 1986; Wampler, 1986). Each iteration takes the step

    dq = J^T (J J^T + d^2 I)^-1 error  +  z - J^T (J J^T)^-1 J z,      z = anchor - q

The first part moves the gripper by `error`; its damping d falls with the error. The second part uses the redundant
degrees of freedom to stay near `anchor`, which is the starting posture with some joints a little nearer to a preferred
one. The solution therefore does not depend on the number of iterations, and the joints move evenly along a path.

An arm of fewer than six joints does not reach every orientation. There the position has priority, and the rotation
uses what the position leaves (Nakamura, Hanafusa and Yoshikawa, 1987), J_p and J_r being the rows of J for either:

    dq = p + N r,    p = J_p^# error_p,    r = (J_r N)^# (error_r - J_r p)

with damped inverses J^#, the projection N on what does not move the gripper point, and without the joints that the step
would move beyond their ranges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.robots.arm_model import ArmKinematics, ArmModel
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array
from llm_planner.scene.scene import Pose, Quaternion

LEAST_DAMPING = 1e-8  # squared
_EYE = np.eye(6)
SETTLED = 1e-6  # [rad] step that no longer counts
RANK = 1e-3  # [m/rad] singular value of the position below which it counts as 0


@dataclass(frozen=True)
class IkSettings:
    """Settings of the solver; tolerances are norms of the residual, in [m] for position and [rad] for rotation."""

    posture: Array  # (nq,) [rad]
    posture_weight: Array  # (nq,)
    position_tolerance: float = 1e-5
    rotation_tolerance: float = 1e-4
    max_iterations: int = 40
    damping: float = 0.02  # at errors (of the norm of 6 numbers, in [m] and [rad]) above this
    max_step: float = 0.3  # largest change of a joint in one iteration [rad]
    posture_gain: float = 0.2  # share of the way to the posture for each solution

    @classmethod
    def of(cls, arm: ArmModel) -> IkSettings:
        """Return settings that keep the posture of `arm`."""
        return cls(np.array(arm.home), np.array(arm.posture))


@dataclass(frozen=True)
class IkSolution:
    """Best joint angles found, `qpos` (nq,) [rad]; `converged` if position and rotation are within tolerance."""

    qpos: Array
    position_error: float  # [m]
    rotation_error: float  # [rad]
    converged: bool


class InverseKinematics:
    """Inverse kinematics solver that respects the joints' position limits."""

    def __init__(self, kinematics: ArmKinematics, limits: JointLimits, settings: IkSettings) -> None:
        self._kinematics = kinematics
        self._limits = limits
        self._settings = settings
        self._lacks_freedom = limits.nq < 6

    def solve(self, target: Pose, start: Array) -> IkSolution:
        """Solve T_base_gripper = `target`, starting at `start` (nq,) [rad]; returns the closest solution found.

        An arm of fewer than six joints reaches the position and comes as close to the rotation as it can there.
        """
        settings = self._settings
        qpos = np.clip(start, self._limits.lower, self._limits.upper)
        pull = np.minimum(settings.posture_gain * settings.posture_weight, 1.0)
        anchor = qpos + pull * (settings.posture - qpos)
        best: IkSolution | None = None
        for _ in range(settings.max_iterations):
            error, jacobian = linearise(self._kinematics, qpos, target)
            solution = self._judge(qpos, error)
            if best is None or self._cost(solution) < self._cost(best) or solution.converged:
                best = solution
            if best.converged:
                break
            step = (
                self._position_first(qpos, error, jacobian)
                if self._lacks_freedom
                else self._step(jacobian, error, anchor - qpos)
            )
            if float(np.abs(step).max()) < SETTLED:
                break
            qpos = np.clip(qpos + step, self._limits.lower, self._limits.upper)
        assert best is not None  # max_iterations is at least one
        return best

    def _judge(self, qpos: Array, error: Array) -> IkSolution:
        position, rotation = float(np.sqrt(error[:3] @ error[:3])), float(np.sqrt(error[3:] @ error[3:]))
        within = position <= self._settings.position_tolerance and rotation <= self._settings.rotation_tolerance
        return IkSolution(qpos, position, rotation, within)

    def _cost(self, solution: IkSolution) -> tuple[float, float]:
        """Return what makes a solution worse: the error of the position, and the rotation's where that is small."""
        exact = self._lacks_freedom and solution.position_error <= self._settings.position_tolerance
        return (0.0, solution.rotation_error) if exact else (solution.position_error, 0.0)

    def _position_first(self, qpos: Array, error: Array, jacobian: Array) -> Array:
        """Return the step of an arm that cannot reach every orientation; joints at their limits do not push on."""
        free = np.ones(len(qpos), dtype=bool)
        while True:
            step = self._limited(self._by_priority(error, jacobian * free))
            beyond = (qpos + step > self._limits.upper) | (qpos + step < self._limits.lower)
            at_end = (qpos >= self._limits.upper - SETTLED) | (qpos <= self._limits.lower + SETTLED)
            if not (blocked := free & beyond & at_end).any():
                return step
            free &= ~blocked

    def _by_priority(self, error: Array, jacobian: Array) -> Array:
        place, turn, damping = jacobian[:3], jacobian[3:], self._settings.damping**2 * np.eye(3)
        step = place.T @ np.linalg.solve(place @ place.T + damping, error[:3])
        _, singular, moved = np.linalg.svd(place, full_matrices=False)
        moved = moved[singular > RANK]
        rest = turn - (turn @ moved.T) @ moved
        turned: Array = step + rest.T @ np.linalg.solve(rest @ rest.T + damping, error[3:] - turn @ step)
        return turned

    def _step(self, jacobian: Array, error: Array, back: Array) -> Array:
        settings = self._settings
        square = jacobian @ jacobian.T + LEAST_DAMPING * _EYE
        damping = min(settings.damping**2, float(error @ error))
        task = np.linalg.solve(square + damping * _EYE, error) - np.linalg.solve(square, jacobian @ back)
        step: Array = back + task @ jacobian
        return self._limited(step)

    def _limited(self, step: Array) -> Array:
        largest, most = float(np.abs(step).max()), self._settings.max_step
        return step if largest <= most else step * (most / largest)


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
