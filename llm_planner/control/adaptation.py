"""Adaptation of an arm to payload, friction and weak drives.

`Adaptation` is a stage between plan and robot. It estimates deviations from the model with the torques commanded to
the drives, and diagnoses them in words once they are certain. It shifts the commanded joint positions within the
operator's bounds, so that a sagging servo reaches the planned position. The shift is a small plan of its own, to rest
at its target with the least acceleration. It takes about as long as the servo's response, which avoids exciting the
servo's damping term.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.adaptation_belief import Belief, Kind, Layout
from llm_planner.control.adaptation_estimator import AdaptationBounds, ArmRegressor, Estimator, EstimatorSettings
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


@dataclass(frozen=True)
class Significance:
    """Thresholds for a diagnosis, and the time for which they must be exceeded [s]."""

    payload: float = 0.3  # [kg]
    friction: float = 0.5  # [Nm]
    gain: float = 0.05
    held_for: float = 3.0


class Diagnoser:
    """Diagnoser of persistent deviations. Not thread-safe."""

    def __init__(self, layout: Layout, significance: Significance | None = None) -> None:
        self._layout = layout
        self._significance = significance or Significance()
        self.reset()

    def reset(self) -> None:
        self._since: dict[tuple[Fault, int], float] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def update(self, belief: Belief, now: float) -> None:
        """Update the diagnoses from the `belief` at robot time `now` [s]."""
        values = self._values(belief)
        self._since = {what: self._since.get(what, now) for what in values}
        self.diagnoses = tuple(
            Diagnosis(*what, values[what], since)
            for what, since in sorted(self._since.items(), key=lambda item: item[1])
            if now - since >= self._significance.held_for
        )

    def _values(self, belief: Belief) -> dict[tuple[Fault, int], float]:
        """Return the significant deviations by fault and joint."""
        values: dict[tuple[Fault, int], float] = {}
        for group in belief.groups:
            if group.kind in _FAULTS:
                what = (_FAULTS[group.kind], group.joint + 1)
                share = TYPICAL_SPEED if group.kind is Kind.VISCOUS else 1.0
                values[what] = values.get(what, 0.0) + share * float(belief.theta[group.index[0]])
        return {what: value for what, value in values.items() if abs(value) >= self._asked(what[0])}

    def _asked(self, fault: Fault) -> float:
        return {
            Fault.PAYLOAD: self._significance.payload,
            Fault.FRICTION: self._significance.friction,
            Fault.GAIN: self._significance.gain,
        }[fault]


_FAULTS = {
    Kind.MASS: Fault.PAYLOAD,
    Kind.VISCOUS: Fault.FRICTION,
    Kind.COULOMB: Fault.FRICTION,
    Kind.GAIN: Fault.GAIN,
}

REACHED_IN = 0.2  # [s] for the shift to reach its target; replanning at every tick makes the approach asymptotic


class Shift:
    """Shift of the commanded positions of `nq` joints. Not thread-safe."""

    def __init__(self, nq: int) -> None:
        self._nq = nq
        self.reset()

    def reset(self) -> None:
        self._plan = formulation.hold(np.zeros(self._nq), 0.0, 1.0, 0.0)

    def at(self, time: float) -> Array:
        """Return the shift at `time` [s], (nq,) [rad]."""
        return formulation.sample(self._plan, time).qpos

    def applied(self, plan: JointTrajectory, wanted: Array) -> JointTrajectory:
        """Add a shift to `plan` that moves to `wanted` (nq,) [rad] from the plan's start; the result ends at rest."""
        stages = max(1, round(REACHED_IN / plan.dt))
        plan = _lengthened(plan, stages)
        start = formulation.sample(self._plan, plan.start_time)
        qacc = np.zeros_like(plan.qacc)
        qacc[:stages] = _transfer(start, wanted, stages, plan.dt)
        self._plan = shift = formulation.integrate(start, qacc, plan.start_time, plan.dt, 0.0)
        return JointTrajectory(
            plan.start_time,
            plan.dt,
            plan.qpos + shift.qpos,
            plan.qvel + shift.qvel,
            plan.qacc + shift.qacc,
            plan.gripper_width,
        )


def _transfer(start: StartState, goal: Array, stages: int, dt: float) -> Array:
    """Compute the least accelerations (stages, nq) [rad/s^2] per stage that bring `start` to rest at `goal`."""
    to_end = dt * dt * (stages - 0.5 - np.arange(stages))  # effect of each stage's acceleration on the end position
    effect = np.vstack([to_end, np.full(stages, dt)])
    missing = np.vstack([goal - start.qpos - stages * dt * start.qvel, -start.qvel])
    accelerations: Array = np.linalg.pinv(effect) @ missing
    return accelerations


def _lengthened(plan: JointTrajectory, stages: int) -> JointTrajectory:
    """Extend `plan` with rest at its end to at least `stages` stages."""
    missing = max(0, stages - len(plan.qacc))
    nothing = np.zeros((missing, plan.qpos.shape[1]))
    return JointTrajectory(
        plan.start_time,
        plan.dt,
        np.vstack([plan.qpos, np.tile(plan.qpos[-1], (missing, 1))]),
        np.vstack([plan.qvel, nothing]),
        np.vstack([plan.qacc, nothing]),
        plan.gripper_width,
    )


LONGEST_STEP = 0.05  # [s] between two states, beyond which the motion between them is unknown
FINGERS_MOVED = 0.005  # [m]


class Adaptation:
    """Adaptation of one arm, driven by its joint states. Not thread-safe."""

    def __init__(self, arm: ArmModel, settings: EstimatorSettings | None = None) -> None:
        """Adapt `arm`, up to the payload in its file unless `settings` say otherwise."""
        self._regressor, self._torque_max = ArmRegressor(arm), arm.limits.torque_max
        self._stiffness: Array = self._regressor.model.actuator_gainprm[:, 0].copy()  # of the servos [Nm/rad]
        layout = self._regressor.layout
        self.estimator = Estimator(layout, self._torque_max, settings or _settings(arm))
        self._diagnoser = Diagnoser(layout)
        self._shift = Shift(layout.nq)
        self.reset()

    def reset(self) -> None:
        """Forget all estimates, as after a restart of the robot."""
        self._before = _NOTHING
        self._width = np.nan
        self.estimator.reset()
        self._diagnoser.reset()
        self._shift.reset()

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
        bound = self.estimator.settings.bounds.shift
        shift: Array = np.clip(beyond / self._stiffness, -bound, bound)
        return shift

    def _look_at_fingers(self, width: float) -> None:
        if abs(width - self._width) > FINGERS_MOVED:
            self.estimator.doubt_payload()
        self._width = self._width if width != width else width


def _settings(arm: ArmModel) -> EstimatorSettings:
    return EstimatorSettings() if arm.payload is None else EstimatorSettings(AdaptationBounds(payload=arm.payload))


def _is_whole(state: JointState) -> bool:
    numbers = (state.qpos, state.qvel, state.effort)
    return len(state.effort) == len(state.qpos) and all(bool(np.isfinite(values).all()) for values in numbers)


def _between(before: JointState, after: JointState) -> StartState:
    qacc = (after.qvel - before.qvel) / (after.time - before.time)
    return StartState(0.5 * (before.qpos + after.qpos), 0.5 * (before.qvel + after.qvel), qacc)


_NOTHING = JointState(-np.inf, np.zeros(0), np.zeros(0))
