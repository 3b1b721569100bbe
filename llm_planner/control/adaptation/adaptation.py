"""The stage between plan and robot: learns from what the drives are told, and shifts what the joints are told."""

from __future__ import annotations

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.adaptation.diagnosis import Diagnoser, Diagnosis
from llm_planner.control.adaptation.estimator import Estimator, EstimatorSettings
from llm_planner.control.adaptation.regressor import ArmRegressor
from llm_planner.control.adaptation.shift import Shift
from llm_planner.control.formulation import StartState
from llm_planner.control.reference import Array, JointState, JointTrajectory
from llm_planner.simulation.panda import PANDA_LIMITS

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
        wanted = self._wanted_shift(fallback.sample(plan, plan.start_time + plan.dt))
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
