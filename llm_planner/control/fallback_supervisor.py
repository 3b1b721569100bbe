"""What is left to do when something fails: a ladder of fallbacks around any controller, down to standing still.

A plan is found, if need be one that strays from what cannot be kept; or, for a tenth of a second, the last one goes on;
or the robot brakes, and at rest stays where it is until a new run of a skill begins.

Which runs of skills are followed: the newest, and none that another has come after.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from llm_planner.control import formulation
from llm_planner.control.input_validation import InputValidator, ReferenceRules
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import KEPT, Status, TickStatistics
from llm_planner.errors import InputError
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference

REMEMBERED = 64  # runs that are over


class Runs:
    """Epochs are compared run by run, so that a number that nobody can exceed shuts nobody out for long.

    A run that was followed and then left for another is over for good. One that was never followed and whose epoch lies
    below the newest is refused only for `stale_for` [s] after the newest was heard: later, whatever was sent before
    that is void by its own time.
    """

    def __init__(self, stale_for: float) -> None:
        self.epoch = 0  # of the newest
        self._stale_for = stale_for
        self._heard = -math.inf  # when it was followed last [s]
        self._over: deque[int] = deque(maxlen=REMEMBERED)

    def objection(self, epoch: int, now: float) -> str:
        """Why no reference of the run `epoch` is followed at `now` [s], in words; "" where it is."""
        stale = epoch < self.epoch and now <= self._heard + self._stale_for
        if stale or epoch in self._over:
            return f"a reference of the earlier skill run {epoch} came; the run is {self.epoch}"
        return ""

    def followed(self, epoch: int, now: float) -> None:
        """A reference of the run `epoch` is followed."""
        if epoch != self.epoch:
            self._over.append(self.epoch)
        self.epoch, self._heard = epoch, now

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`."""
        self._heard = now


TOO_FAST = 0.01  # [m/s] above a speed limit, from which on it is told
REPLAY = 0.1  # [s] that the last plan goes on, before the robot brakes


class Rung(Enum):
    """Where on the ladder the controller stands."""

    TRACKING = "tracking"
    RESTING = "resting"  # no skill moves the robot
    REPLAYING = "replaying"
    RELAXED = "relaxed"
    BRAKING = "braking"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Standing:
    """The rung, why, and the newest run of a skill whose references were followed."""

    rung: Rung
    reason: str = ""
    epoch: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether the run of the skill has come to its end by this."""
        return self.rung is Rung.STOPPED


class Controller(Protocol):
    """What the ladder stands on. `step` with no reference brakes to rest, and then holds."""

    @property
    def statistics(self) -> TickStatistics: ...

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints = FREE
    ) -> JointTrajectory: ...

    def reset(self) -> None: ...


class FallbackSupervisor:
    """Owns the reference that is followed, and the latch. Reads no clock."""

    def __init__(self, controller: Controller, vigilance: InputValidator, rules: ReferenceRules | None = None) -> None:
        self.standing = Standing(Rung.RESTING)
        self.state: JointState | None = None  # the last one that could be believed
        self._controller = controller
        self._vigilance = vigilance
        self._rules = rules or ReferenceRules()
        self._reference: MotionReference | None = None
        self._plan: JointTrajectory | None = None
        self._since = -math.inf  # when the robot's clock began
        self._runs = Runs(self._rules.stale_for)
        self._latch = ""  # why the robot is held
        self._failing_since = self._rest_at = math.inf  # since when no plan is found; when braking has come to rest

    def follow(self, reference: MotionReference) -> str:
        """Follow `reference` from now on, or say why not. The first of a new run releases what was latched."""
        if self.state is None:
            return "a reference came before any state of the robot"
        now = self.state.time
        reason = self._runs.objection(reference.epoch, now) or self._rules.objection(reference, now, self._since)
        if reason:
            return reason
        if self._latch and reference.epoch == self._runs.epoch:
            return f"the robot is held: {self._latch}"
        self._runs.followed(reference.epoch, now)
        self._reference, self._latch = reference, ""
        return ""

    def rest(self) -> None:
        """Nothing is wanted any more: brake, and hold."""
        self._reference = None

    def step(
        self, state: JointState, now: float, wall: float, constraints: MotionConstraints = FREE
    ) -> JointTrajectory:
        """The motion from `now` [s], ending at rest; `wall` is the wall's time [s].

        Raises InputError where a state cannot be read before there was any that could.
        """
        doubt = self._vigilance.look(state, wall)
        if not doubt.usable:
            return self._stop(self._stand_in(doubt.reason, now), now, constraints, doubt.reason)
        if doubt.reason or self.state is None:
            self._begin_anew(state)
        self.state = state
        if doubt.reason:
            return self._stop(state, now, constraints, doubt.reason)
        if self._latch:
            return self._stop(state, now, constraints, self._latch)
        return self._move(state, now, constraints)

    def watch(self, wall: float) -> JointTrajectory | None:
        """To be called now and then: the plan to end with, once, when the robot's states have stopped; else None.

        It is the last one: it ends at rest, and nobody knows where on it the robot is.
        """
        lost = self._vigilance.silent(wall)
        if not lost or self._plan is None or self.state is None:
            return None
        ended = self.state.time + self._vigilance.silence(wall) >= formulation.end_time(self._plan)
        is_new, self._latch, self._reference = not self._latch, self._latch or lost, None
        self.standing = Standing(Rung.STOPPED if ended else Rung.BRAKING, self._latch, self._runs.epoch)
        return self._plan if is_new else None

    def reset(self) -> None:
        """Everything is forgotten, the latch included; references of earlier runs stay refused."""
        self._controller.reset()
        self._reference = self._plan = self.state = None
        self._latch, self._failing_since, self._rest_at = "", math.inf, math.inf
        self.standing = Standing(Rung.RESTING, epoch=self._runs.epoch)

    def _begin_anew(self, state: JointState) -> None:
        """What was planned and wanted belongs to another time or place."""
        self._controller.reset()
        self._reference = self._plan = None
        self._since = state.time
        self._runs.started_over(state.time)

    def _stand_in(self, reason: str, now: float) -> JointState:
        """Where the joints should be by now, in place of what is not measured."""
        if self._plan is None:
            raise InputError(f"{reason}; the controller waits for a first state that it can read")
        planned = formulation.sample(self._plan, now)
        return JointState(now, planned.qpos, planned.qvel)

    def _move(self, state: JointState, now: float, constraints: MotionConstraints) -> JointTrajectory:
        reference = self._reference
        if reference is not None and now > reference.start_time + reference.valid_for:
            self._reference = reference = None
        self._plan = plan = self._controller.step(state, reference, now, constraints)
        statistics = self._controller.statistics
        if statistics.status is not Status.FALLBACK:
            self._failing_since = self._rest_at = math.inf
            self.standing = self._standing_of(statistics)
            return plan
        self._failing_since = min(self._failing_since, now)
        if now > self._failing_since + REPLAY:
            reason = f"no motion was found for {REPLAY:g} s: {statistics.message}"
            return self._give_up(state, now, constraints, reason, plan)
        self.standing = Standing(Rung.REPLAYING, statistics.message, self._runs.epoch)
        return plan

    def _give_up(
        self, state: JointState, now: float, constraints: MotionConstraints, reason: str, braking: JointTrajectory
    ) -> JointTrajectory:
        """Brake; a motion that is found on the way is followed, and at rest there is none any more."""
        if now >= self._rest_at:
            return self._stop(state, now, constraints, reason)
        if math.isinf(self._rest_at):
            self._plan = braking = self._controller.step(state, None, now, constraints)
            self._rest_at = formulation.end_time(braking)
        self.standing = Standing(Rung.BRAKING, reason, self._runs.epoch)
        return braking

    def _standing_of(self, statistics: TickStatistics) -> Standing:
        unkept = _unkept(statistics)
        if unkept:
            return Standing(Rung.RELAXED, unkept, self._runs.epoch)
        moves = statistics.status is Status.TRACKING
        return Standing(Rung.TRACKING if moves else Rung.RESTING, "", self._runs.epoch)

    def _stop(self, state: JointState, now: float, constraints: MotionConstraints, reason: str) -> JointTrajectory:
        self._latch, self._reference = reason, None
        self._failing_since = self._rest_at = math.inf
        self._plan = self._controller.step(state, None, now, constraints)
        at_rest = self._controller.statistics.status is Status.HOLDING
        self.standing = Standing(Rung.STOPPED if at_rest else Rung.BRAKING, reason, self._runs.epoch)
        return self._plan


def _unkept(statistics: TickStatistics) -> str:
    """What the plan does not keep, in words without numbers that change with every tick; "" where it keeps all."""
    near = " and ".join(statistics.binding) or "a zone"
    unkept = []
    if statistics.keep_out_slack > KEPT:
        unkept.append(f"comes too close to {near}")
    if statistics.speed_slack > TOO_FAST:
        unkept.append("is faster than the limit")
    return f"no motion keeps everything: this one {' and '.join(unkept)}" if unkept else ""
