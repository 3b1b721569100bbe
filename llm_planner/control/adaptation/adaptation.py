"""The stage between plan and robot: learns from what the joints do, and shifts what they are told."""

from __future__ import annotations

from collections import deque

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.adaptation.diagnosis import Diagnoser, Diagnosis
from llm_planner.control.adaptation.estimator import Estimator, EstimatorSettings
from llm_planner.control.adaptation.regressor import ArmRegressor
from llm_planner.control.adaptation.servo import Servo, servo_of
from llm_planner.control.adaptation.shift import Shift
from llm_planner.control.formulation import StartState
from llm_planner.control.reference import Array, JointState, JointTrajectory
from llm_planner.simulation.panda import PANDA_LIMITS

GAP = 2.5  # periods between two commands, after which the next may have come late, and were not what was followed
WAIT = 0.5  # [s] after such a gap that nothing is learnt
FINGERS_MOVED = 0.005  # [m]


class Adaptation:
    """One for each arm; single owner, driven by the beat of its joint states."""

    def __init__(
        self, settings: EstimatorSettings | None = None, servo: Servo | None = None, period: float = 0.01
    ) -> None:
        """Commands are expected every `period` [s] while the arm moves."""
        self._gap = GAP * period
        self._regressor = ArmRegressor()
        self._servo = servo or servo_of(self._regressor.model)
        layout = self._regressor.layout
        self.estimator = Estimator(layout, PANDA_LIMITS.torque_max, settings)
        self._diagnoser = Diagnoser(layout)
        self._shift = Shift(layout.nq)
        self.reset()

    def reset(self) -> None:
        """Forget what was commanded and what was learnt, as when the robot was restarted."""
        self._sent: deque[JointTrajectory] = deque(maxlen=16)
        self._last_time = self._late_until = -np.inf
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
        wanted = self._wanted_shift(fallback.sample(plan, plan.start_time + plan.dt))
        command = self._shift.applied(plan, wanted)
        self._remember(command)
        return command

    def _observe(self, state: JointState) -> None:
        """Learn from where the joints are, and where they were told to be."""
        dt = state.time - self._last_time
        self._last_time = state.time
        if self._sent and not 0.0 < dt <= self._gap:
            self._late_until = state.time + WAIT
        if state.time < self._late_until or not self._sent or self._sent[0].start_time > state.time:
            return
        if not (np.isfinite(state.qpos).all() and np.isfinite(state.qvel).all()):
            return
        commanded = self._commanded(state.time)
        corrective = self._servo.corrective_torque(commanded, state)
        told = corrective + self._regressor.nominal_torque(state.qpos, state.qvel, commanded.qacc)
        if np.any(np.abs(told) > PANDA_LIMITS.torque_max):  # the drives gave less than that, and nobody knows how much
            return
        rows = self._regressor.rows(state.qpos, state.qvel, commanded.qacc, self.estimator.belief.theta)
        self.estimator.update(rows, corrective, state.qvel, dt)
        self._diagnoser.update(self.estimator.belief, state.time)

    def _commanded(self, time: float) -> StartState:
        in_force = next(plan for plan in reversed(self._sent) if plan.start_time <= time)
        return fallback.sample(in_force, time)

    def _wanted_shift(self, motion: StartState) -> Array:
        theta = self.estimator.theta_in_bounds
        beyond = self._regressor.rows(motion.qpos, motion.qvel, motion.qacc, theta) @ theta
        bound = self.estimator.settings.bounds.shift
        shift: Array = np.clip(beyond / self._servo.stiffness, -bound, bound)
        return shift

    def _remember(self, command: JointTrajectory) -> None:
        width = command.gripper_width
        if abs(width - self._width) > FINGERS_MOVED:
            self.estimator.doubt_payload()
        self._width = self._width if width != width else width
        self._sent.append(command)
