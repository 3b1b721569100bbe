"""Adaptation of an arm to payload, friction and weak drives.

`Adaptation` is a stage between plan and robot. It estimates deviations from the model with the torques commanded to
the drives, and diagnoses them in words once they are certain. It shifts the commanded joint positions within the
operator's bounds, so that a sagging servo reaches the planned position. The shift is a small plan of its own, to rest
at its target with the least acceleration. It takes about as long as the servo's response, which avoids exciting the
servo's damping term.

The payload's columns of the regressor Y follow from the Newton-Euler equations of a rigid body in its mass and first
moment (Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links", 1986). They omit
its inertia, which contributes a hundredth at usual speeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.adaptation_estimator import (
    STICTION_SPEED,
    AdaptationBounds,
    Belief,
    Estimator,
    Kind,
    Layout,
)
from llm_planner.control.formulation import StartState
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import Array, JointState, JointTrajectory

TYPICAL_SPEED = 0.5  # [rad/s] at which a joint's friction is reported


class Fault(Enum):
    """Kind of fault."""

    PAYLOAD = "payload"
    FRICTION = "friction"
    GAIN = "gain"


@dataclass(frozen=True)
class Diagnosis:
    """Fault of the arm, observed since the robot time `since` [s].

    `value` is in [kg], in [Nm] at 0.5 rad/s, or a fraction. `joint` counts from 1; 0 is the hand.
    """

    fault: Fault
    joint: int
    value: float
    since: float

    def words(self, now: float) -> str:
        """Describe the fault to a person at robot time `now` [s]."""
        ago = f"since {max(0.0, now - self.since):.0f} s"
        if self.fault is Fault.PAYLOAD:
            return f"about {self.value:.1f} kg more than expected hangs from the hand, {ago}"
        if self.fault is Fault.FRICTION:
            return f"joint {self.joint} drags with {self.value:.1f} Nm: its friction has grown, {ago}"
        less = "less" if self.value < 0 else "more"
        return f"the drive of joint {self.joint} gives {abs(self.value):.0%} {less} torque than commanded, {ago}"


FAULTS = {Kind.MASS: Fault.PAYLOAD, Kind.VISCOUS: Fault.FRICTION, Kind.COULOMB: Fault.FRICTION, Kind.GAIN: Fault.GAIN}
SIGNIFICANT = {Fault.PAYLOAD: 0.3, Fault.FRICTION: 0.5, Fault.GAIN: 0.05}  # least values of a diagnosis, as `value`
HELD_FOR = 3.0  # [s] for which a value must be significant


class Diagnoser:
    """Diagnoser of persistent deviations. Not thread-safe."""

    def __init__(self) -> None:
        self._since: dict[tuple[Fault, int], float] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def update(self, belief: Belief, now: float) -> None:
        """Update the diagnoses from the `belief` at robot time `now` [s]."""
        values: dict[tuple[Fault, int], float] = {}
        for group in belief.groups:
            if group.kind in FAULTS:
                what = (FAULTS[group.kind], group.joint + 1)
                share = TYPICAL_SPEED if group.kind is Kind.VISCOUS else 1.0
                values[what] = values.get(what, 0.0) + share * float(belief.theta[group.index[0]])
        significant = [what for what, value in values.items() if abs(value) >= SIGNIFICANT[what[0]]]
        self._since = {what: self._since.get(what, now) for what in significant}
        self.diagnoses = tuple(
            Diagnosis(*what, values[what], since)
            for what, since in sorted(self._since.items(), key=lambda item: item[1])
            if now - since >= HELD_FOR
        )


REACHED_IN = 0.2  # [s] for the shift to reach its target; replanning at every tick makes the approach asymptotic


class Shift:
    """Shift of the commanded positions of `nq` joints. Not thread-safe."""

    def __init__(self, nq: int) -> None:
        self._plan = formulation.hold(np.zeros(nq), 0.0, 1.0, 0.0)

    def at(self, time: float) -> Array:
        """Return the shift at `time` [s], (nq,) [rad]."""
        return formulation.sample(self._plan, time).qpos

    def applied(self, plan: JointTrajectory, wanted: Array) -> JointTrajectory:
        """Add a shift to `plan` that moves to `wanted` (nq,) [rad] from the plan's start; the result ends at rest."""
        stages = max(1, round(REACHED_IN / plan.dt))
        plan = _lengthened(plan, stages)
        start = formulation.sample(self._plan, plan.start_time)
        qacc = np.zeros_like(plan.qacc)
        qacc[:stages] = formulation.transfer(start, wanted, stages, plan.dt)
        self._plan = shift = formulation.integrate(start, qacc, plan.start_time, plan.dt, 0.0)
        return replace(plan, qpos=plan.qpos + shift.qpos, qvel=plan.qvel + shift.qvel, qacc=plan.qacc + shift.qacc)


def _lengthened(plan: JointTrajectory, stages: int) -> JointTrajectory:
    """Extend `plan` with rest at its end to at least `stages` stages."""
    if len(plan.qacc) >= stages:
        return plan
    more = ((0, stages - len(plan.qacc)), (0, 0))
    qpos, qvel, qacc = np.pad(plan.qpos, more, "edge"), np.pad(plan.qvel, more), np.pad(plan.qacc, more)
    return replace(plan, qpos=qpos, qvel=qvel, qacc=qacc)


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


LONGEST_STEP = 0.05  # [s] between two states, beyond which the motion between them is unknown
FINGERS_MOVED = 0.005  # [m]


class Adaptation:
    """Adaptation of one arm, driven by its joint states. Not thread-safe."""

    def __init__(self, arm: ArmModel, bounds: AdaptationBounds | None = None) -> None:
        """Adapt `arm`, up to the payload in its file unless `bounds` say otherwise."""
        self._regressor, self._torque_max = ArmRegressor(arm), arm.limits.torque_max
        self._stiffness: Array = self._regressor.model.actuator_gainprm[:, 0].copy()  # of the servos [Nm/rad]
        if bounds is None and arm.payload is not None:
            bounds = AdaptationBounds(payload=arm.payload)
        self.estimator = Estimator(self._regressor.layout, self._torque_max, bounds)
        self.reset()

    def reset(self) -> None:
        """Forget all estimates, as after a restart of the robot."""
        self._before = _NOTHING
        self._width = np.nan
        self.estimator.reset()
        self._diagnoser, self._shift = Diagnoser(), Shift(self._regressor.layout.nq)

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Faults of the arm that are certain."""
        return self._diagnoser.diagnoses

    def adapted(self, plan: JointTrajectory, state: JointState) -> JointTrajectory:
        """Learn from the measured `state`, and return the trajectory to command instead of `plan`."""
        self._observe(state)
        self._look_at_fingers(plan.gripper_width)
        wanted = self._wanted_shift(formulation.sample(plan, plan.start_time + plan.dt))
        return self._shift.applied(plan, wanted)

    def _observe(self, state: JointState) -> None:
        """Learn from the motion since the previous state and the torques commanded to the drives.

        Commanded trajectories and their delays do not matter, because the arm moves by the torques of its drives.
        """
        before, self._before = self._before, state
        dt = state.time - before.time
        if not 0.0 < dt <= LONGEST_STEP or not (_is_whole(before) and _is_whole(state)):
            return
        if np.any(np.abs(state.effort) > self._torque_max):  # saturated drives gave an unknown, lower torque
            return
        motion, told = _between(before, state), 0.5 * (before.effort + state.effort)
        beyond = told - self._regressor.nominal_torque(motion.qpos, motion.qvel, motion.qacc)
        rows = self._regressor.rows(motion.qpos, motion.qvel, motion.qacc, self.estimator.belief.theta)
        self.estimator.update(rows, beyond, motion.qvel, dt)
        self._diagnoser.update(self.estimator.belief, state.time)

    def _wanted_shift(self, motion: StartState) -> Array:
        theta = self.estimator.theta_in_bounds
        beyond = self._regressor.rows(motion.qpos, motion.qvel, motion.qacc, theta) @ theta
        bound = self.estimator.bounds.shift
        shift: Array = np.clip(beyond / self._stiffness, -bound, bound)
        return shift

    def _look_at_fingers(self, width: float) -> None:
        if abs(width - self._width) > FINGERS_MOVED:
            self.estimator.doubt_payload()
        self._width = self._width if width != width else width


def _is_whole(state: JointState) -> bool:
    numbers = (state.qpos, state.qvel, state.effort)
    return len(state.effort) == len(state.qpos) and all(bool(np.isfinite(values).all()) for values in numbers)


def _between(before: JointState, after: JointState) -> StartState:
    qacc = (after.qvel - before.qvel) / (after.time - before.time)
    return StartState(0.5 * (before.qpos + after.qpos), 0.5 * (before.qvel + after.qvel), qacc)


_NOTHING = JointState(-np.inf, np.zeros(0), np.zeros(0))
