"""Estimator of an arm's payload, friction, drive gains and external pushes from the torques commanded to its drives.

The commanded torque beyond that of the model is Y @ theta, linear in the unknowns theta. The payload's columns of Y
follow from the Newton-Euler equations of a rigid body in its mass and first moment (Atkeson, An and Hollerbach,
"Estimation of inertial parameters of manipulator loads and links", 1986). They omit its inertia, which contributes a
hundredth at usual speeds. `AdaptationBounds` holds the operator's bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.adaptation_belief import Belief, Caution, Evidence, Explainer, Kind, Layout, plausible_payload
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import Array

STICTION_SPEED = 0.02  # [rad/s] below which Coulomb friction fades, so that a joint at rest gives no evidence of it


class ArmRegressor:
    """Regressor Y and nominal torque from the arm's MuJoCo model."""

    def __init__(self, arm: ArmModel) -> None:
        import mujoco

        self._mujoco = mujoco
        self.model = arm.fixed_fingers_spec().compile()
        self.layout = Layout(self.model.nv)
        self._data = mujoco.MjData(self.model)
        self._site = self.model.site("gripper").id
        self._hand = int(self.model.site_bodyid[self._site])
        self._jacobian, self._jacobian_rate = np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))

    def nominal_torque(self, qpos: Array, qvel: Array, qacc: Array) -> Array:
        """Compute the torque that the model requires for a motion, including gravity, (nq,) [Nm]."""
        self._move(qpos, qvel)
        data, torque = self._data, np.zeros(self.layout.nq)
        data.qacc[:] = qacc
        self._mujoco.mj_rne(self.model, data, 1, torque)
        torque += self.model.dof_armature * qacc
        return torque

    def rows(self, qpos: Array, qvel: Array, qacc: Array, theta: Array) -> Array:
        """Compute the regressor Y (nq, size) of a joint motion, given as arrays (nq,) in [rad] and [s].

        The present estimate `theta` (size,) predicts the commanded torque, because a measured one would contain the
        torque to be explained.
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
        """Compute the columns of a push (nq, 3), and of mass and first moment (nq, 4)."""
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
    """Return the matrix (3, 3) that maps u to vector x u."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True)
class AdaptationBounds:
    """Largest deviations that are compensated, and largest shift of a commanded joint.

    Larger deviations are diagnosed, but compensated only up to these bounds.
    """

    payload: float = 3.0  # [kg]
    reach: float = 0.15  # distance of the payload's centre from the gripper point [m]
    viscous: float = 15.0  # [Nm s/rad]
    coulomb: float = 8.0  # [Nm]
    gain: float = 0.3  # fraction of the commanded torque, in both directions
    shift: float = 0.01  # of a commanded joint position [rad]

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) > 0.0:
                raise InputError(
                    f"the bound of the adaptation's {item.name} must be above 0, not {getattr(self, item.name)}"
                )
        if self.gain >= 1.0:
            raise InputError(f"the bound of the adaptation's gain is a share below 1, not {self.gain}")


# Prior standard deviations of the unknowns; see `Kind` for the units.
PRIOR = {
    Kind.MASS: 1.5,
    Kind.MOMENT: 0.08,
    Kind.VISCOUS: 5.0,
    Kind.COULOMB: 3.0,
    Kind.GAIN: 0.2,
    Kind.PUSH: 50.0,
}


@dataclass(frozen=True)
class EstimatorSettings:
    """Settings of `Estimator`: the operator's bounds, and the weights of measurements."""

    bounds: AdaptationBounds = field(default_factory=AdaptationBounds)
    caution: Caution = field(default_factory=Caution)
    noise: float = 0.005  # of a torque residual, as a fraction of the joint's largest torque
    stiction: float = 0.012  # of a joint at rest, as a fraction of the joint's largest torque
    memory: float = 15.0  # [s] forgetting time constant of the evidence
    recent: float = 0.3  # [s] forgetting time constant for the detection of changes
    strange: float = 4.0  # mean recent energy above which the residual is an anomaly
    probation: float = 1.0  # [s] for which an anomaly must last before it is learnt
    longest_push: float = 3.0  # [s] the same for an anomaly that a push on the hand can explain
    weighing: float = 0.5  # [s] of motion before the payload is estimated again after a change of grip
    explain_every: float = 0.1  # [s] between updates of the belief


class Estimator:
    """Estimator of an arm's deviations from its model, `belief`. Not thread-safe."""

    def __init__(self, layout: Layout, torque_max: Array, settings: EstimatorSettings | None = None) -> None:
        self.settings = settings or EstimatorSettings()
        bounds = self.settings.bounds
        reach = bounds.payload * bounds.reach
        self._bounds = layout.filled(
            {
                Kind.MASS: bounds.payload,
                Kind.MOMENT: reach,
                Kind.VISCOUS: bounds.viscous,
                Kind.COULOMB: bounds.coulomb,
                Kind.GAIN: bounds.gain,
                Kind.PUSH: 0.0,  # pushes are not compensated
            }
        )
        least = dict.fromkeys(Kind, -np.inf) | dict.fromkeys(_NEVER_NEGATIVE, 0.0) | {Kind.GAIN: LEAST_GAIN}
        self._explainer = Explainer(layout.groups(), layout.filled(PRIOR), layout.filled(least), self.settings.caution)
        self._layout = layout
        self._payload = np.arange(layout.of(Kind.MASS).start, layout.of(Kind.MOMENT).stop)
        self._push = np.arange(layout.of(Kind.PUSH).start, layout.of(Kind.PUSH).stop)
        self._torque_max = torque_max
        self.reset()

    def reset(self) -> None:
        self._past = Evidence(self._layout.size, self.settings.memory)
        self._recent = Evidence(self._layout.size, self.settings.recent)
        self._since_explained = self._strange_for = self._patience = 0.0
        self._moved = np.inf  # duration of motion since the payload was last in doubt [s]
        self.belief: Belief = self._explainer.nothing()

    @property
    def theta_in_bounds(self) -> Array:
        """Estimate to compensate, (size,): the belief clipped to the operator's bounds."""
        theta: Array = np.clip(self.belief.theta, -self._bounds, self._bounds)
        return theta

    @property
    def is_frozen(self) -> bool:
        """Whether learning is suspended because of an anomaly, such as a contact."""
        return 0.0 < self._strange_for < self._patience

    def update(self, rows: Array, torque: Array, qvel: Array, dt: float) -> None:
        """Update the belief by the `torque` (nq,) [Nm] beyond the nominal one, `dt` [s] after the last measurement.

        `rows` (nq, size) is the regressor Y of the motion, and `qvel` (nq,) its joint velocities [rad/s].
        """
        resting = np.abs(qvel) < STICTION_SPEED
        settings, theta = self.settings, self.belief.theta
        noise = np.hypot(settings.noise, settings.stiction * resting) * self._torque_max
        self._recent.add(rows, torque, noise, theta, dt)
        if not resting.all() and not self.is_frozen:
            self._past.add(rows, torque, noise, theta, dt)
            self._moved += dt
        self._since_explained += dt
        if self._since_explained >= settings.explain_every:
            self._look(self._since_explained)
            self._since_explained = 0.0

    def doubt_payload(self) -> None:
        """Forget the evidence about the payload, because the fingers have moved.

        The belief about the payload stays until the arm has moved a little or clearly contradicts it.
        """
        self._past.forget(self._payload)
        self._moved = 0.0

    def _explains(self, index: NDArray[np.intp], strange: float) -> bool:
        """Return whether a change of the unknowns `index` alone explains the anomaly `strange`."""
        changed = self._explainer.changed(self._recent, self.belief, index)
        return plausible_payload(changed[self._payload]) and self._recent.unexplained(changed) < 0.2 * strange

    def _look(self, dt: float) -> None:
        """Detect anomalies in the recent evidence, then update the belief from all evidence."""
        strange = self._recent.unexplained(self.belief.theta)
        if strange > self.settings.strange and self._explains(self._payload, strange):
            self._past.forget(self._payload)
            self._past.include(self._recent)
            self._strange_for, self._moved = 0.0, np.inf
        elif strange > self.settings.strange and self._past.count >= ENOUGH:
            pushed = self._explains(self._push, strange)
            self._patience = self.settings.longest_push if pushed else self.settings.probation
            self._strange_for += dt
        else:
            self._strange_for = 0.0
        if not self.is_frozen and self._moved >= self.settings.weighing:
            self.belief = self._explainer.explain(self._past, self.belief)


LEAST_GAIN = -0.5
ENOUGH = 100.0  # measurements in motion before an anomaly can be detected
_NEVER_NEGATIVE = (Kind.MASS, Kind.VISCOUS, Kind.COULOMB)
