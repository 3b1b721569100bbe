"""What unknown payload, friction, drives and pushes would add to the torque of each joint, linear in what is unknown.

The torque that a joint must be told beyond its model is Y @ theta. The payload's columns are those of
the Newton-Euler equations of a rigid body in its mass and first moment (Atkeson, An and Hollerbach, "Estimation of
inertial parameters of manipulator loads and links", 1986), its own inertia left out: at the speeds of an arm at work
it is a hundredth of the rest.
"""

from __future__ import annotations

import numpy as np

from llm_planner.control.adaptation.unknowns import Kind, Layout
from llm_planner.control.reference import Array
from llm_planner.simulation.panda import load_arm_model

STICTION_SPEED = 0.02  # [rad/s] below which Coulomb friction fades, so that a joint at rest says nothing about it


class ArmRegressor:
    """Y and the nominal torque, from the arm's MuJoCo model."""

    def __init__(self) -> None:
        import mujoco

        self._mujoco = mujoco
        self.model = load_arm_model()
        self.layout = Layout(self.model.nv)
        self._data = mujoco.MjData(self.model)
        self._site = self.model.site("gripper").id
        self._hand = int(self.model.site_bodyid[self._site])
        self._jacobian, self._jacobian_rate = np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))

    def nominal_torque(self, qpos: Array, qvel: Array, qacc: Array) -> Array:
        """What the motion takes of an arm that is as its model says, gravity included (nq,) [Nm]."""
        self._move(qpos, qvel)
        data, torque = self._data, np.zeros(self.layout.nq)
        data.qacc[:] = qacc
        self._mujoco.mj_rne(self.model, data, 1, torque)
        torque += self.model.dof_armature * qacc
        return torque

    def rows(self, qpos: Array, qvel: Array, qacc: Array, theta: Array) -> Array:
        """Y (nq, size) for a joint motion, each (nq,) in rad and s, if `theta` (size,) is about right.

        What the drives are told is reckoned from `theta`: measured, it would hold the very torque to be explained.
        """
        nominal = self.nominal_torque(qpos, qvel, qacc)
        push, payload = self._columns(qvel, qacc)
        friction, drives = np.tanh(qvel / STICTION_SPEED), self.layout.of(Kind.GAIN)
        rows = np.hstack([payload, np.diag(qvel), np.diag(friction), np.diag(-nominal), push])
        beyond = rows @ theta / (1.0 + theta[drives])
        rows[:, drives] -= np.diag(beyond)
        return rows

    def _move(self, qpos: Array, qvel: Array) -> None:
        mujoco, model, data = self._mujoco, self.model, self._data
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)

    def _columns(self, qvel: Array, qacc: Array) -> tuple[Array, Array]:
        """The columns of a push (nq, 3), and of mass and first moment (nq, 4)."""
        mujoco, model, data, rate = self._mujoco, self.model, self._data, self._jacobian_rate
        mujoco.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], self._site)
        mujoco.mj_jacDot(model, data, rate[:3], rate[3:], data.site_xpos[self._site], self._hand)
        motion = self._jacobian @ qacc + rate @ qvel
        linear, angular = motion[:3] - model.opt.gravity, motion[3:]
        spin = _cross(self._jacobian[3:] @ qvel)
        rotation = data.site_xmat[self._site].reshape(3, 3)
        force = (_cross(angular) + spin @ spin) @ rotation  # (3, 3) of the first moment
        moment = -_cross(linear) @ rotation
        columns = np.empty((self.layout.nq, 4))
        columns[:, 0] = self._jacobian[:3].T @ linear
        columns[:, 1:] = self._jacobian[:3].T @ force + self._jacobian[3:].T @ moment
        return -self._jacobian[:3].T, columns


def _cross(vector: Array) -> Array:
    """The matrix (3, 3) that takes u to vector x u."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
