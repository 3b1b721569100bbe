"""Supervisor that wraps a controller with a ladder of fallbacks.

The robot follows a new plan, which may violate constraints that cannot be met. If the controller finds no plan, the
last plan continues for a tenth of a second. Then the robot brakes, and stays at rest until a new skill run begins. The
supervisor rejects references from superseded skill runs.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum

from llm_planner.control import formulation
from llm_planner.control.input_validation import STALE_FOR, InputValidator, reference_objection
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import KEPT, MpcController, Status, TickStatistics
from llm_planner.errors import InputError
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference

REMEMBERED = 64  # superseded runs


class EpochFilter:
    """Filter that rejects references from superseded skill runs.

    A run that was followed and then superseded is rejected for good. A run that was never followed and has a lower
    epoch than the current one is rejected only for `stale_for` [s] after the latest reference: by then, older
    references have expired. A run with a huge epoch therefore cannot block later runs for long.
    """

    def __init__(self, stale_for: float) -> None:
        self.epoch = 0  # of the current run
        self._stale_for = stale_for
        self._heard = -math.inf  # time of its latest reference [s]
        self._over: deque[int] = deque(maxlen=REMEMBERED)

    def objection(self, epoch: int, now: float) -> str:
        """Explain why references of the run `epoch` are rejected at `now` [s]; "" if they are accepted."""
        stale = epoch < self.epoch and now <= self._heard + self._stale_for
        if stale or epoch in self._over:
            return f"a reference of the earlier skill run {epoch} came; the run is {self.epoch}"
        return ""

    def followed(self, epoch: int, now: float) -> None:
        """Record that a reference of the run `epoch` is followed from `now` [s]."""
        if epoch != self.epoch:
            self._over.append(self.epoch)
        self.epoch, self._heard = epoch, now

    def started_over(self, now: float) -> None:
        """Adapt to a jump of the robot's clock to `now` [s]."""
        self._heard = now


TOO_FAST = 0.01  # [m/s] excess over a speed limit from which it is reported
REPLAY = 0.1  # [s] for which the last plan continues before the robot brakes


class FallbackLevel(Enum):
    """Level of the fallback ladder."""

    TRACKING = "tracking"
    RESTING = "resting"  # no skill moves the robot
    REPLAYING = "replaying"
    RELAXED = "relaxed"
    BRAKING = "braking"
    STOPPED = "stopped"


@dataclass(frozen=True)
class SupervisorStatus:
    """Present level, its reason, and the epoch of the skill run that was followed last."""

    level: FallbackLevel
    reason: str = ""
    epoch: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether the skill run has failed."""
        return self.level is FallbackLevel.STOPPED


class FallbackSupervisor:
    """Supervisor of a controller, with the active reference and the latch that holds the robot after a failure."""

    def __init__(self, controller: MpcController, validator: InputValidator) -> None:
        self.status = SupervisorStatus(FallbackLevel.RESTING)
        self.state: JointState | None = None  # the last valid one
        self._controller = controller
        self._validator = validator
        self._reference: MotionReference | None = None
        self._plan: JointTrajectory | None = None
        self._since = -math.inf  # start of the robot's clock
        self._runs = EpochFilter(STALE_FOR)
        self._latch = ""  # reason for holding the robot
        self._failing_since = self._rest_at = math.inf  # first tick without a plan; end of braking

    def follow(self, reference: MotionReference) -> str:
        """Follow `reference` and return "", or return why it is rejected. A new skill run releases the latch."""
        if self.state is None:
            return "a reference came before any state of the robot"
        now = self.state.time
        reason = self._runs.objection(reference.epoch, now) or reference_objection(reference, now, self._since)
        if reason:
            return reason
        if self._latch and reference.epoch == self._runs.epoch:
            return f"the robot is held: {self._latch}"
        self._runs.followed(reference.epoch, now)
        self._reference, self._latch = reference, ""
        return ""

    def rest(self) -> None:
        """Drop the reference, so that the robot brakes and holds."""
        self._reference = None

    def step(
        self, state: JointState, now: float, wall: float, constraints: MotionConstraints = FREE
    ) -> JointTrajectory:
        """Compute the motion from `now`, ending at rest.

        Args:
            state: Measured joints.
            now: Robot time at which the command takes effect [s].
            wall: Wall time [s].
            constraints: Constraints in force.

        Raises:
            InputError: The state is invalid, and no valid state came before it.
        """
        doubt = self._validator.look(state, wall)
        if not doubt.usable:
            if self._plan is None:
                raise InputError(f"{doubt.reason}; the controller waits for a first state that it can read")
            planned = formulation.sample(self._plan, now)
            return self._stop(JointState(now, planned.qpos, planned.qvel), now, constraints, doubt.reason)
        if doubt.reason or self.state is None:  # the plan and the reference belong to another time or place
            self._controller.reset()
            self._reference = self._plan = None
            self._since = state.time
            self._runs.started_over(state.time)
        self.state = state
        if doubt.reason or self._latch:
            return self._stop(state, now, constraints, doubt.reason or self._latch)
        return self._move(state, now, constraints)

    def watch(self, wall: float) -> JointTrajectory | None:
        """Check periodically at wall time `wall` [s] whether the state stream is lost.

        The result is the last plan, once, after the loss, because it ends at rest; else None.
        """
        lost = self._validator.silent(wall)
        if not lost or self._plan is None or self.state is None:
            return None
        ended = self.state.time + self._validator.silence(wall) >= formulation.end_time(self._plan)
        is_new, self._latch, self._reference = not self._latch, self._latch or lost, None
        self._stand(FallbackLevel.STOPPED if ended else FallbackLevel.BRAKING, self._latch)
        return self._plan if is_new else None

    def reset(self) -> None:
        """Forget the reference, plan, state and latch; superseded runs stay rejected."""
        self._controller.reset()
        self._reference = self._plan = self.state = None
        self._latch, self._failing_since, self._rest_at = "", math.inf, math.inf
        self._stand(FallbackLevel.RESTING)

    def _stand(self, level: FallbackLevel, reason: str = "") -> None:
        self.status = SupervisorStatus(level, reason, self._runs.epoch)

    def _move(self, state: JointState, now: float, constraints: MotionConstraints) -> JointTrajectory:
        reference = self._reference
        if reference is not None and now > reference.start_time + reference.valid_for:
            self._reference = reference = None
        self._plan = plan = self._controller.step(state, reference, now, constraints)
        statistics = self._controller.statistics
        if statistics.status is not Status.FALLBACK:
            self._failing_since = self._rest_at = math.inf
            moves = statistics.status is Status.TRACKING
            unkept, as_usual = _unkept(statistics), FallbackLevel.TRACKING if moves else FallbackLevel.RESTING
            self._stand(FallbackLevel.RELAXED if unkept else as_usual, unkept)
            return plan
        self._failing_since = min(self._failing_since, now)
        if now > self._failing_since + REPLAY:
            reason = f"no motion was found for {REPLAY:g} s: {statistics.message}"
            return self._give_up(state, now, constraints, reason, plan)
        self._stand(FallbackLevel.REPLAYING, statistics.message)
        return plan

    def _give_up(
        self, state: JointState, now: float, constraints: MotionConstraints, reason: str, braking: JointTrajectory
    ) -> JointTrajectory:
        """Brake without a latch, so that a plan found meanwhile is followed, and latch once at rest."""
        if now >= self._rest_at:
            return self._stop(state, now, constraints, reason)
        if math.isinf(self._rest_at):
            self._plan = braking = self._controller.step(state, None, now, constraints)
            self._rest_at = formulation.end_time(braking)
        self._stand(FallbackLevel.BRAKING, reason)
        return braking

    def _stop(self, state: JointState, now: float, constraints: MotionConstraints, reason: str) -> JointTrajectory:
        self._latch, self._reference = reason, None
        self._failing_since = self._rest_at = math.inf
        self._plan = self._controller.step(state, None, now, constraints)
        at_rest = self._controller.statistics.status is Status.HOLDING
        self._stand(FallbackLevel.STOPPED if at_rest else FallbackLevel.BRAKING, reason)
        return self._plan


def _unkept(statistics: TickStatistics) -> str:
    """Describe violated constraints, without numbers, which change with every tick; "" if there are none."""
    near = " and ".join(statistics.binding) or "a zone"
    unkept = []
    if statistics.keep_out_slack > KEPT:
        unkept.append(f"comes too close to {near}")
    if statistics.speed_slack > TOO_FAST:
        unkept.append("is faster than the limit")
    return f"no motion keeps everything: this one {' and '.join(unkept)}" if unkept else ""
