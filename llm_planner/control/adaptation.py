"""What tracking errors say about the robot: estimated, said in words, made up for inside the operator's bounds.

The stage between plan and robot: learns from what the drives are told, and shifts what the joints are told.

What the estimate says about the robot, in words, once it is certain.

Moves a commanded trajectory a little aside, smoothly, so that a servo that sags ends where the plan wants it.

The shift is a small plan of its own: from where it is to where it should be, at rest, with the least acceleration.
It takes about as long as the servo takes to answer, so that the servo's damping term is not provoked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.adaptation_belief import Belief, Kind, Layout
from llm_planner.control.adaptation_estimator import ArmRegressor, Estimator, EstimatorSettings
from llm_planner.control.formulation import StartState
from llm_planner.robots.motion import Array, JointState, JointTrajectory
from llm_planner.robots.robots import PANDA_LIMITS

TYPICAL_SPEED = 0.5  # [rad/s] at which a joint's friction is told


class Fault(Enum):
    """What may be wrong."""

    PAYLOAD = "payload"
    FRICTION = "friction"
    GAIN = "gain"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that is wrong: `value` is in kg, in Nm at 0.5 rad/s, or a share; `joint` counts from 1, 0 is the hand.

    It shows since the robot's time `since` [s].
    """

    fault: Fault
    joint: int
    value: float
    since: float

    def words(self, now: float) -> str:
        """The sentence for a person, at the robot's time `now` [s]."""
        ago = f"since {max(0.0, now - self.since):.0f} s"
        if self.fault is Fault.PAYLOAD:
            return f"about {self.value:.1f} kg more than expected hangs from the hand, {ago}"
        if self.fault is Fault.FRICTION:
            return f"joint {self.joint} drags with {self.value:.1f} Nm: its friction has grown, {ago}"
        less = "less" if self.value < 0 else "more"
        return f"the drive of joint {self.joint} gives {abs(self.value):.0%} {less} torque than it is told, {ago}"


@dataclass(frozen=True)
class Significance:
    """What is large enough to be said, and for how long it must have been believed [s]."""

    payload: float = 0.3  # [kg]
    friction: float = 0.5  # [Nm]
    gain: float = 0.05
    held_for: float = 3.0


class Diagnoser:
    """Says what has been believed for a while. Single owner."""

    def __init__(self, layout: Layout, significance: Significance | None = None) -> None:
        self._layout = layout
        self._significance = significance or Significance()
        self.reset()

    def reset(self) -> None:
        """Nothing is known."""
        self._since: dict[tuple[Fault, int], float] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def update(self, belief: Belief, now: float) -> None:
        """Takes in what is believed at the robot's time `now` [s]."""
        values = self._values(belief)
        self._since = {what: self._since.get(what, now) for what in values}
        self.diagnoses = tuple(
            Diagnosis(*what, values[what], since)
            for what, since in sorted(self._since.items(), key=lambda item: item[1])
            if now - since >= self._significance.held_for
        )

    def _values(self, belief: Belief) -> dict[tuple[Fault, int], float]:
        """What is believed and large enough, by fault and joint."""
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

REACHED_IN = 0.2  # [s] at most; every tick plans anew, so that it is approached rather than reached


class Shift:
    """The shift in force, of `nq` joints; single owner."""

    def __init__(self, nq: int) -> None:
        self._nq = nq
        self.reset()

    def reset(self) -> None:
        """No shift."""
        self._plan = formulation.hold(np.zeros(self._nq), 0.0, 1.0, 0.0)

    def at(self, time: float) -> Array:
        """The shift at `time` [s], (nq,) [rad]."""
        return formulation.sample(self._plan, time).qpos

    def applied(self, plan: JointTrajectory, wanted: Array) -> JointTrajectory:
        """`plan` with the shift on its way to `wanted` (nq,) [rad] from the plan's start on; it still ends at rest."""
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
    """The least accelerations (stages, nq) [rad/s^2], constant in each stage, that bring `start` to rest at `goal`."""
    to_end = dt * dt * (stages - 0.5 - np.arange(stages))  # of the position, by the acceleration of each stage
    effect = np.vstack([to_end, np.full(stages, dt)])
    missing = np.vstack([goal - start.qpos - stages * dt * start.qvel, -start.qvel])
    accelerations: Array = np.linalg.pinv(effect) @ missing
    return accelerations


def _lengthened(plan: JointTrajectory, stages: int) -> JointTrajectory:
    """`plan`, at rest at its end until it has that many stages."""
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


LONGEST_STEP = 0.05  # [s] between two states, beyond which nobody knows how the arm moved from one to the other
FINGERS_MOVED = 0.005  # [m]


class Adaptation:
    """One for each arm; single owner, driven by the beat of its joint states."""

    def __init__(self, settings: EstimatorSettings | None = None) -> None:
        self._regressor = ArmRegressor()
        self._stiffness: Array = self._regressor.model.actuator_gainprm[:, 0].copy()  # of the joints' servos [Nm/rad]
        layout = self._regressor.layout
        self.estimator = Estimator(layout, PANDA_LIMITS.torque_max, settings)
        self._diagnoser = Diagnoser(layout)
        self._shift = Shift(layout.nq)
        self.reset()

    def reset(self) -> None:
        """Forget what was learnt, as when the robot was restarted."""
        self._before = _NOTHING
        self._width = np.nan
        self.estimator.reset()
        self._diagnoser.reset()
        self._shift.reset()

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """What is wrong with the arm, as far as that is certain."""
        return self._diagnoser.diagnoses

    def adapted(self, plan: JointTrajectory, state: JointState) -> JointTrajectory:
        """What to command instead of `plan`, once `state` is known; ends at rest if `plan` does."""
        self._observe(state)
        self._look_at_fingers(plan.gripper_width)
        wanted = self._wanted_shift(formulation.sample(plan, plan.start_time + plan.dt))
        return self._shift.applied(plan, wanted)

    def _observe(self, state: JointState) -> None:
        """Learn from how the joints moved since the state before, and what the drives were told meanwhile.

        What was commanded, and when it arrived, plays no part: whoever holds the arm back, and however late, it moves
        by what its drives are told.
        """
        before, self._before = self._before, state
        dt = state.time - before.time
        if not 0.0 < dt <= LONGEST_STEP or not (_is_whole(before) and _is_whole(state)):
            return
        if np.any(np.abs(state.effort) > PANDA_LIMITS.torque_max):  # they gave less, and nobody knows how much
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


def _is_whole(state: JointState) -> bool:
    """Whether there is a finite number for everything, the effort included."""
    numbers = (state.qpos, state.qvel, state.effort)
    return len(state.effort) == len(state.qpos) and all(bool(np.isfinite(values).all()) for values in numbers)


def _between(before: JointState, after: JointState) -> StartState:
    """How the joints moved from one state to the next: the mean of each."""
    qacc = (after.qvel - before.qvel) / (after.time - before.time)
    return StartState(0.5 * (before.qpos + after.qpos), 0.5 * (before.qvel + after.qvel), qacc)


_NOTHING = JointState(-np.inf, np.zeros(0), np.zeros(0))
