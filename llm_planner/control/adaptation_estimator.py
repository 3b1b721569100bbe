"""Estimates what is unknown of an arm from how its servos have to correct it.

What unknown payload, friction, drives and pushes would add to the torque of each joint, linear in what is unknown.

The torque that a joint must be told beyond its model is Y @ theta. The payload's columns are those of
the Newton-Euler equations of a rigid body in its mass and first moment (Atkeson, An and Hollerbach, "Estimation of
inertial parameters of manipulator loads and links", 1986), its own inertia left out: at the speeds of an arm at work
it is a hundredth of the rest.

How far the operator lets adaptation go.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.adaptation_belief import Belief, Caution, Evidence, Explainer, Kind, Layout, plausible_payload
from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.robots.robots import load_arm_model

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


@dataclass(frozen=True)
class AdaptationBounds:
    """The largest deviations from the model that are believed, and the largest shift of a commanded joint.

    What is worse than this is no longer made up for, and still said.
    """

    payload: float = 3.0  # [kg]; the Panda's own limit
    reach: float = 0.15  # of the payload's centre from the gripper point [m]
    viscous: float = 15.0  # [Nm s/rad]
    coulomb: float = 8.0  # [Nm]
    gain: float = 0.3  # a share of the torque told, either way
    shift: float = 0.01  # of a commanded joint [rad]

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) > 0.0:
                raise InputError(
                    f"the bound of the adaptation's {item.name} must be above 0, not {getattr(self, item.name)}"
                )
        if self.gain >= 1.0:
            raise InputError(f"the bound of the adaptation's gain is a share below 1, not {self.gain}")


# Standard deviations of what may be found, before anything is measured; see `Kind` for the units.
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
    """The operator's bounds, and how measurements are weighed."""

    bounds: AdaptationBounds = field(default_factory=AdaptationBounds)
    caution: Caution = field(default_factory=Caution)
    noise: float = 0.005  # of a servo's corrective torque, as a share of the joint's largest torque
    stiction: float = 0.012  # the same, of what may hold a joint at rest
    memory: float = 15.0  # [s]
    recent: float = 0.3  # [s] by which it is seen that something has changed
    strange: float = 4.0  # mean energy of the recent past that is too much to be noise
    probation: float = 1.0  # [s] that what is strange has to last before it is learnt
    longest_push: float = 3.0  # the same of what could be a push on the hand
    weighing: float = 0.5  # [s] of motion after which what hangs from the hand is judged anew
    explain_every: float = 0.1  # [s]


class Estimator:
    """What is believed of an arm: `belief`. Single owner."""

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
                Kind.PUSH: 0.0,  # a push is nothing to make up for
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
        """Forget everything."""
        self._past = Evidence(self._layout.size, self.settings.memory)
        self._recent = Evidence(self._layout.size, self.settings.recent)
        self._since_explained = self._strange_for = self._patience = 0.0
        self._moved = np.inf  # for how long since what hangs from the hand was last in doubt [s]
        self.belief: Belief = self._explainer.nothing()

    @property
    def theta_in_bounds(self) -> Array:
        """What may be made up for (size,): what is believed, as far as the operator lets it."""
        theta: Array = np.clip(self.belief.theta, -self._bounds, self._bounds)
        return theta

    @property
    def is_frozen(self) -> bool:
        """Whether what happens now is strange, as when something is touched, so that nothing is learnt of it yet."""
        return 0.0 < self._strange_for < self._patience

    def update(self, rows: Array, torque: Array, qvel: Array, dt: float) -> None:
        """Take in the corrective `torque` (nq,) [Nm] at the speeds `qvel` (nq,), `dt` [s] after the last; see Y."""
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
        """The fingers have moved: what hangs from the hand may be something else now.

        It is believed to be what it was until the arm has moved a little, or it is plainly something else.
        """
        self._past.forget(self._payload)
        self._moved = 0.0

    def _explains(self, index: NDArray[np.intp], strange: float) -> bool:
        """Whether the recent past is not strange if just these unknowns have changed."""
        changed = self._explainer.changed(self._recent, self.belief, index)
        return plausible_payload(changed[self._payload]) and self._recent.unexplained(changed) < 0.2 * strange

    def _look(self, dt: float) -> None:
        """Judges the recent past by what is believed, then believes what explains the whole past best."""
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
ENOUGH = 100.0  # numbers measured in motion, before which nothing is strange
_NEVER_NEGATIVE = (Kind.MASS, Kind.VISCOUS, Kind.COULOMB)
