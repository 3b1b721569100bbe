"""Between a stream of plans and an arm: what is proved passes as it is, the rest is followed as far as it is safe.

A plan that ends at rest and is proved from now to its end needs no filter: the robot may follow it even if it hears
nothing more. Only where there is no such plan the filter steps: it follows the wanted motion with accelerations that it
makes safe, and each of its commands is one hold and then braking, proved as well. So at every moment what the robot
follows is a proved motion to rest, and where the next cannot be proved this one goes on.

Motions have start times, and the driver follows them by its own clock: a guard that is held up loses nothing but time.
What the driver does not take (it refuses what comes too late), the measured joints tell: the robot is then taken to
follow the last motion that fits. Where none fits, it was pushed; it is braked from where it is, and that is told as not
kept unless it is proved. How far the robot is off what was sent is kept beyond every clearance.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.command_timing import SentMotions
from llm_planner.control.safety_filter.safety_filter import Filtered, SafetyFilter
from llm_planner.robots.motion import Array, JointState, JointTrajectory, sample

STILL = 1e-6  # [rad, rad/s] that is no motion
ELSEWHERE = "the robot is not where it was sent"
KEEP_WIDTH = float("nan")  # before any plan: the fingers stay as they are


@dataclass(frozen=True)
class GuardSettings:
    """Times in s, angles in rad."""

    hold: float = 0.012  # of one acceleration; the robot brakes after it unless it hears more
    silence: float = 0.25  # a plan that began longer ago than this is nobody's wish any more
    frequency: float = 12.0  # [rad/s] of the critically damped spring by which a wanted motion is caught up with
    # A plan that begins this near to the motion so far is passed on as it is; one not too far from it is joined first.
    same_position: float = 0.001
    same_velocity: float = 0.01  # [rad/s]
    joined_position: float = 0.1
    joined_velocity: float = 1.0  # [rad/s]
    joining: float = 0.25
    apart: float = 0.06  # from where it was to have stopped, a robot that has braked by itself stays there
    lead: float = 0.02  # [s] before `now` that a command may come to its driver
    # Measured joints against what was sent.
    lags: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04)  # [s] that the joints may be behind
    follows: float = 0.02  # [rad] a robot that is farther off does not follow what was sent last,
    resync: float = 0.1  # and was pushed where it is this far off all that was sent lately,
    confirmed: int = 3  # states in a row
    most_finds: int = 2  # times in a row that it is looked for among what was sent before; then it is where it stands
    stands: float = 0.02  # [rad/s] below which a measured robot stands
    moves: float = 0.05  # [rad/s] above which a motion that is followed shows that the driver takes what is sent
    remembered: float = 0.2  # [s] that what was in force is looked back at
    remembered_commands: int = 250  # that the driver may not have taken: those of a second
    # Beyond clearances: how far off its way the robot was, and what it is taken to be off at least.
    least_margin: float = 0.0015  # [m]
    most_margin: float = 0.02  # [m]
    margin_lasts: float = 3.0  # [s] in which it decays to a third


class Guard:
    """Owns no thread and reads no clock; `now` is when a command begins, in the time of plans and states."""

    def __init__(self, safety: SafetyFilter, settings: GuardSettings | None = None) -> None:
        self.settings = settings or GuardSettings()
        self.filtered = Filtered(np.zeros(safety.limits.nq))  # of the last step
        self.why = ""  # the plan that was heard last did not pass; "" where it did
        self._safety = safety
        self._wanted: JointTrajectory | None = None
        self._under: MotionConstraints | None = None  # that which the motion was passed on under, if it was
        self._sent: SentMotions | None = None
        # Before the last command: what was sent, under what that was passed on, and whether the robot was lost.
        self._before: tuple[SentMotions | None, MotionConstraints | None, bool] = None, None, False
        self._earlier: deque[SentMotions] = deque(maxlen=self.settings.remembered_commands)  # before each command
        self._seen = -np.inf  # when the robot was last measured
        self._strayed = 0  # states in a row at which it did not follow what was sent last
        self._finds = 0  # times in a row that it was found to follow an earlier motion
        self._is_lost = False  # it is not where it was sent, and has not been told to brake from where it is
        self._off = 0.0  # [m] how far off its way it was, of late
        self._brake: JointTrajectory | None = None  # the last that no plan had said so
        self._is_stopped = False  # what is wanted is rest, wherever that is
        self._is_doubted = False  # whether the motion was passed on by another filter than today's

    @property
    def is_stepping(self) -> bool:
        """Whether the robot follows something else than the wanted plan."""
        return self._sent is not None and self._under is None

    @property
    def margin(self) -> float:
        """What is kept beyond every clearance, because the robot is not quite where it is sent [m]."""
        return self._safety.margin

    def rests(self, now: float) -> bool:
        """Whether the robot stands still, and is to."""
        if self._sent is None:
            return True
        if self._is_lost:
            return False
        here = self._sent.sample(now)
        return bool(max(np.abs(here.qvel).max(), np.abs(self._sent.last.qpos[-1] - here.qpos).max()) <= STILL)

    def measured(self, state: JointState) -> None:
        """Where the robot is: how far off what was sent, and whether that is what it follows.

        Raises InputError for numbers that are not finite.
        """
        self._safety.check(state.qpos, state.qvel)
        if self._sent is None:
            self._start_from(state, KEEP_WIDTH)
            self._is_lost = bool(np.abs(state.qvel).max() > self.settings.same_velocity)
            return
        self._sent = self._sent.since(state.time - self.settings.remembered)
        if self._off_joints(self._sent, state) <= self.settings.follows:
            self._strayed = 0
            if np.abs(self._sent.sample(state.time).qvel).max() > self.settings.moves:
                self._finds = 0
            self._keep_off(state)
            return
        self._strayed += 1
        if self._strayed >= self.settings.confirmed:
            self._find(state)

    def _off_joints(self, sent: SentMotions, state: JointState) -> float:
        """How far the joints are from where they should be, or have been a little before: the largest [rad]."""
        way = np.array([sent.sample(state.time - lag).qpos for lag in self.settings.lags])
        return float(np.abs(way - state.qpos).max(axis=1).min())

    def _find(self, state: JointState) -> None:
        """The robot does not follow what was sent last: it follows the last motion that fits, was pushed, or stands.

        A driver refuses what does not lead on from the motion that it follows. Where two motions that nearly fit were
        refused in turn, a robot that stands is taken to be where it is measured: from there it can be led on.
        """
        assert self._sent is not None
        self._finds += 1
        while self._earlier and self._finds <= self.settings.most_finds:
            earlier = self._earlier.pop()
            if self._off_joints(earlier, state) <= 0.5 * self.settings.follows:
                self._sent, self._under, self._strayed = earlier, None, 0
                return
        stands = np.abs(state.qvel).max() < self.settings.stands
        if stands or self._off_joints(self._sent, state) > self.settings.resync:
            self._finds = 0
            self._start_from(state, self._sent.last.gripper_width)
            self._is_lost = True

    def _start_from(self, state: JointState, width: float) -> None:
        """The robot is where it is measured; the best that it can do from there is to brake."""
        limits = self._safety.limits
        velocity = np.minimum(np.maximum(state.qvel, -limits.velocity), limits.velocity)
        start = StartState(state.qpos, velocity, np.zeros_like(velocity))
        brake = formulation.brake(start, self._safety.stopping, state.time, self.settings.hold, width)
        self._sent, self._under, self._strayed = SentMotions((state.time,), (brake,)), None, 0
        self._brake, self._seen = brake, state.time
        self._earlier.clear()

    def _keep_off(self, state: JointState) -> None:
        """How far the robot is off its way is kept beyond every clearance; being late on it takes nothing."""
        assert self._sent is not None
        settings, elapsed = self.settings, max(0.0, state.time - self._seen)
        self._seen = state.time
        way = np.array([self._sent.sample(state.time - lag).qpos for lag in settings.lags])
        off = float(self._safety.apart(state.qpos, way).min())
        self._off = max(off, self._off * math.exp(-elapsed / settings.margin_lasts))
        self._is_doubted |= self._safety.keep_off(min(max(self._off, settings.least_margin), settings.most_margin))

    def judged_by(self, safety: SafetyFilter) -> None:
        """Another filter from now on, as when the robot has taken hold of something; it proves anew what goes on."""
        safety.keep_off(self._safety.margin)
        self._safety, self._is_doubted = safety, True

    def forget(self) -> None:
        """The robot was restarted: nothing of before counts."""
        self._wanted = self._sent = self._under = None
        self._strayed, self._is_lost, self._is_stopped = 0, False, False

    def brake(self) -> None:
        """Nothing is wanted any more: the coming steps bring the robot to rest."""
        self._wanted = self._under = None

    def withdraw(self) -> None:
        """The command that was made last was not sent after all."""
        self._sent, self._under, self._is_lost = self._before
        if self._earlier:
            self._earlier.pop()

    def hear(self, plan: JointTrajectory, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """`plan` as a command, if need be joined to the motion, where it is proved; else None, and steps aim at it."""
        if self._sent is None:
            return None
        settings, under = self.settings, self._under
        self._is_stopped = self._stops(plan)
        self._wanted, self._under = plan, None
        # A driver may take it before `now`: it has to lead on from there as well.
        early = min(max(plan.start_time, now - settings.lead), now)
        away = faster = 0.0
        for time in (early, now):
            present, wanted = self._sent.sample(time), formulation.sample(plan, time)
            away = max(away, float(np.abs(wanted.qpos - present.qpos).max()))
            faster = max(faster, float(np.abs(wanted.qvel - present.qvel).max()))
        begins = early
        if not (away <= settings.same_position and faster <= settings.same_velocity):
            begins = now
            brake = self._braked(present, plan, now, away)
            if brake is None and not (away <= settings.joined_position and faster <= settings.joined_velocity):
                self.why = "it begins elsewhere"
                return None
            if brake is not None and self._is_stopped:
                self._wanted = brake
            plan = brake or joined(present, plan, now, settings.joining)
        self.why = self._safety.prove(plan, begins, constraints).why
        if self.why:
            return None
        self._take(plan, begins, constraints, under)
        return plan

    def _take(
        self, motion: JointTrajectory, begins: float, under: MotionConstraints | None, before: MotionConstraints | None
    ) -> None:
        """`motion` is what the robot follows from `begins` [s] on, proved under `under`."""
        assert self._sent is not None
        self._before = self._sent, before, self._is_lost
        self._earlier.append(self._sent)
        self._sent, self._under, self._is_lost = self._sent.then(motion, begins), under, False

    def _stops(self, plan: JointTrajectory) -> bool:
        """Whether `plan` wants the robot at rest where it is: it only brakes, or holds after a plan that moved."""
        slow, speeds = self.settings.same_velocity, np.abs(plan.qvel)
        if (np.diff(speeds, axis=0) > STILL).any():
            return False
        moved = self._wanted is not None and bool(np.abs(self._wanted.qvel).max() > slow)
        return self._is_stopped or moved or bool(speeds[0].max() > slow)

    def _braked(self, present: StartState, plan: JointTrajectory, now: float, away: float) -> JointTrajectory | None:
        """The hardest braking, where `plan` stops the robot and comes too late for that, or stands `away` [rad] from
        `present`, where such braking was to end; None for any other plan.

        Whoever stops need not come to where he was to have stopped.
        """
        settings = self.settings
        brake = formulation.brake(present, self._safety.stopping, now, settings.hold, plan.gripper_width)
        rests = formulation.end_time(plan) <= formulation.end_time(brake) + settings.joining
        stays = self._sent is not None and self._sent.last is self._brake and away <= settings.apart
        if not (rests and (stays or self._is_stopped)):
            return None
        self._brake = brake
        return brake

    def step(self, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """The command at `now`; None where the motion under way stays as it is."""
        if self._sent is None:
            return None
        if self._is_lost:
            return self._rescue(now, constraints)
        if self._goes_on(now, constraints):
            return None
        start = self._sent.sample(now)
        wanted, width = self._wish(start, now)
        return self._filtered(start, wanted, width, now, constraints)

    def accelerate(self, wanted_qacc: Array, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """As `step`, for a commander that wants accelerations (nq,) instead of plans."""
        if self._sent is None:
            return None
        if self._is_lost:
            return self._rescue(now, constraints)
        start = self._sent.sample(now)
        return self._filtered(start, wanted_qacc, self._sent.last.gripper_width, now, constraints)

    def _rescue(self, now: float, constraints: MotionConstraints) -> JointTrajectory:
        """The hardest braking of a robot that is not where it was sent, proved or not."""
        assert self._sent is not None
        start, hold, stopping = self._sent.sample(now), self.settings.hold, self._safety.stopping
        brake = formulation.brake(start, stopping, now, hold, self._sent.last.gripper_width)
        self._brake = brake
        return self._braking(brake, now, constraints, (ELSEWHERE,))

    def _braking(
        self, brake: JointTrajectory, now: float, constraints: MotionConstraints, why: tuple[str, ...]
    ) -> JointTrajectory:
        """Sends `brake`, and tells it as infeasible where not even that keeps what was promised."""
        proof = self._safety.prove(brake, now, replace(constraints, speed=np.inf), promised=True)
        slack = -min(proof.clearance, 0.0)
        self.filtered = Filtered(brake.qacc[0], True, why, infeasible=not proof.safe, slack=slack, refused=True)
        self._take(brake, now, None, self._under)
        return brake

    def steps(self, now: float, duration: float, constraints: MotionConstraints) -> JointTrajectory:
        """All commands of the coming `duration` [s] as one, and braking after them; a state was `measured` before."""
        count = max(1, round(duration / self.settings.hold))
        hold = duration / count
        assert self._sent is not None
        states = [self._sent.sample(now)]
        for k in range(count):
            self.step(now + k * hold, constraints)
            states.append(self._sent.sample(now + (k + 1) * hold))
        last = self._sent.last
        brake = formulation.brake(states[-1], self._safety.stopping, now + duration, hold, last.gripper_width)
        qpos, qvel = np.array([state.qpos for state in states]), np.array([state.qvel for state in states])
        return JointTrajectory(
            now,
            hold,
            np.concatenate([qpos, brake.qpos[1:]]),
            np.concatenate([qvel, brake.qvel[1:]]),
            np.concatenate([(qvel[1:] - qvel[:-1]) / hold, brake.qacc]),
            last.gripper_width,
        )

    def _filtered(
        self, start: StartState, wanted: Array, width: float, now: float, constraints: MotionConstraints
    ) -> JointTrajectory | None:
        """One hold from `start` on and braking; None where nothing is proved but the motion under way."""
        assert self._sent is not None
        before, hold = self._under, self.settings.hold
        self._under = None
        self.filtered = self._safety.filter(start.qpos, start.qvel, wanted, constraints, hold)
        motion = _held(start, self.filtered.qacc, self._safety, now, hold, width)
        if not self.filtered.refused:
            self._take(motion, now, None, before)
            return motion
        rescued = replace(constraints, speed=np.inf)
        for promised in (False, True) if self.filtered.infeasible else (False,):
            if self._safety.prove(self._sent.last, now, rescued, promised).safe:
                self.filtered = replace(self.filtered, infeasible=False)
                return None
        return self._braking(motion, now, constraints, self.filtered.binding)

    def _goes_on(self, now: float, constraints: MotionConstraints) -> bool:
        """Whether the plan that was passed on is still wanted and safe; at rest nothing has to be."""
        if self._wanted is None or self._is_stale(now):
            return self.rests(now)
        is_new = self._is_doubted or self._under != constraints
        if self._sent is not None and self._under is not None and is_new:
            self._is_doubted = False
            self._under = constraints if self._safety.prove(self._sent.last, now, constraints).safe else None
        return self._under is not None

    def _is_stale(self, now: float) -> bool:
        return self._wanted is None or now > self._wanted.start_time + self.settings.silence

    def _wish(self, start: StartState, now: float) -> tuple[Array, float]:
        """The acceleration that leads onto the wanted plan, or to rest without one; and the width of the gripper."""
        hold, frequency = self.settings.hold, self.settings.frequency
        if self._wanted is None or self._is_stale(now):
            width = KEEP_WIDTH if self._sent is None else self._sent.last.gripper_width
            braking = self._safety.stopping.acceleration
            return np.minimum(np.maximum(-start.qvel / hold, -braking), braking), width
        here, there = formulation.sample(self._wanted, now), formulation.sample(self._wanted, now + hold)
        ahead = (there.qvel - here.qvel) / hold
        spring = frequency * frequency * (here.qpos - start.qpos) + 2.0 * frequency * (here.qvel - start.qvel)
        return ahead + spring, self._wanted.gripper_width


def _held(
    start: StartState, qacc: Array, safety: SafetyFilter, now: float, hold: float, width: float
) -> JointTrajectory:
    """One hold of `qacc` (nq,), then braking to rest."""
    brake = formulation.braking(start.qvel + hold * qacc, safety.stopping.acceleration, hold)
    return formulation.integrate(start, np.concatenate([qacc[None], brake]), now, hold, width)


def joined(present: StartState, plan: JointTrajectory, now: float, within: float) -> JointTrajectory:
    """From `present` at `now` [s] onto `plan`, `within` some seconds, by the least changes of its accelerations."""
    dt = plan.dt
    stages = max(2, round(within / dt))
    count = max(stages, int(np.ceil((formulation.end_time(plan) - now) / dt - 1e-6)))
    qpos, qvel = sample(plan, now + dt * np.arange(count + 1.0))
    qacc = (qvel[1:] - qvel[:-1]) / dt
    faster = present.qvel - qvel[0]
    farther = present.qpos - qpos[0] + stages * dt * faster
    gains = np.array([np.full(stages, dt), dt * dt * (stages - 0.5 - np.arange(stages))])
    qacc[:stages] -= gains.T @ np.linalg.solve(gains @ gains.T, np.array([faster, farther]))
    return formulation.integrate(present, qacc, now, dt, plan.gripper_width)
