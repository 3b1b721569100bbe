"""Guard between a stream of plans and an arm; proved plans pass unchanged, others are followed as far as is safe.

A plan that is proved safe from now to its end at rest needs no filter: the robot can follow it even if communication
fails. Without such a plan the guard steps: it follows the wanted motion with filtered accelerations, and each command
is one hold followed by braking, proved as well. The robot therefore always follows a proved motion to rest, which
continues if the next one has no proof.

Motions have start times and the driver follows them by its own clock, so a delayed guard loses only time. A driver
rejects commands that arrive too late. The guard infers this from the measured joints, and assumes that the robot
follows the latest motion that fits them. If none fits, the robot was pushed: the guard brakes it from the measured
state, and reports this as infeasible unless it is proved. The deviation of the robot from its commands is added to
every clearance.
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
from llm_planner.scene.zones import Zone

STILL = 1e-6  # [rad, rad/s] below which the robot counts as at rest
ELSEWHERE = "the robot is not where it was sent"
KEEP_WIDTH = float("nan")  # before the first plan: the fingers stay where they are


@dataclass(frozen=True)
class GuardSettings:
    """Settings of `Guard`; times in [s], angles in [rad]."""

    hold: float = 0.012  # duration of one acceleration, after which the robot brakes without a new command
    silence: float = 0.25  # age at which a plan is stale
    frequency: float = 12.0  # [rad/s] of the critically damped spring that draws the robot to the wanted motion
    # A plan that begins this near to the present motion passes unchanged; within the larger bounds it is joined first.
    same_position: float = 0.001
    same_velocity: float = 0.01  # [rad/s]
    joined_position: float = 0.1
    joined_velocity: float = 1.0  # [rad/s]
    joining: float = 0.25  # duration of the transition to a joined plan
    apart: float = 0.06  # distance from the planned stop within which a braked robot stays where it stopped
    lead: float = 0.02  # [s] by which a command may reach its driver before `now`
    # Comparison of measured joints with the commands.
    lags: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04)  # [s] possible delays of the joints
    follows: float = 0.02  # [rad] deviation up to which a robot follows the last command
    resync: float = 0.1  # [rad] deviation from all recent commands beyond which a robot was pushed
    confirmed: int = 3  # successive states that confirm a deviation
    most_finds: int = 2  # successive searches among earlier commands before the measured position counts
    stands: float = 0.02  # [rad/s] below which a measured robot stands still
    moves: float = 0.05  # [rad/s] speed of a followed motion that shows that the driver accepts commands
    remembered: float = 0.2  # [s] of motions in the past to keep
    remembered_commands: int = 250  # that the driver may have rejected: about a second
    # Bounds of the margin beyond clearances, which covers deviations of the robot from its path.
    least_margin: float = 0.0015  # [m]
    most_margin: float = 0.02  # [m]
    margin_lasts: float = 3.0  # [s] in which it decays to a third


class Guard:
    """Guard of one robot. It has no thread and reads no clock; `now` is the start of a command in robot time."""

    def __init__(self, safety: SafetyFilter, settings: GuardSettings | None = None) -> None:
        self.settings = settings or GuardSettings()
        self.filtered = Filtered(np.zeros(safety.limits.nq))  # of the last step
        self.why = ""  # reason why the last plan did not pass; "" if it did
        self._safety = safety
        self._lags = np.array(self.settings.lags)
        self._wanted: JointTrajectory | None = None
        self._under: MotionConstraints | None = None  # constraints of the proof of a plan that passed, else None
        self._sent: SentMotions | None = None
        # `_sent`, `_under` and `_is_lost` before the last command.
        self._before: tuple[SentMotions | None, MotionConstraints | None, bool] = None, None, False
        self._earlier: deque[SentMotions] = deque(maxlen=self.settings.remembered_commands)  # before each command
        self._seen = -np.inf  # time of the last measurement
        self._strayed = 0  # successive states that did not follow the last command
        self._finds = 0  # successive searches for an earlier command that fits
        self._is_lost = False  # off its commands, and not yet commanded to brake from its measured state
        self._off = 0.0  # [m] recent deviation from the path
        self._brake: JointTrajectory | None = None  # last braking motion that the guard made itself
        self._is_stopped = False  # the wanted plan asks for rest, at any place
        self._is_doubted = False  # the filter or its margin has changed since the proof

    @property
    def is_stepping(self) -> bool:
        """Whether the robot follows filtered steps instead of a plan that passed."""
        return self._sent is not None and self._under is None

    @property
    def margin(self) -> float:
        """Margin beyond every clearance, which covers the robot's deviation from its commands [m]."""
        return self._safety.margin

    def rests(self, now: float) -> bool:
        """Return whether the robot is at rest at `now` [s] and commanded to stay there."""
        if self._sent is None:
            return True
        if self._is_lost:
            return False
        here = self._sent.sample(now)
        return bool(max(np.abs(here.qvel).max(), np.abs(self._sent.last.qpos[-1] - here.qpos).max()) <= STILL)

    def keeps_out(self, zone: Zone, now: float) -> bool:
        """Return whether the robot as measured, and its motion from `now` [s] to rest, are proved outside of `zone`."""
        if self._sent is None or self._is_lost or self._strayed:
            return False
        here = formulation.hold(self._measured, now, self.settings.hold, KEEP_WIDTH)
        keep = MotionConstraints(zones=(zone,))
        proofs = [self._safety.prove(motion, now, keep) for motion in (here, self._sent.last)]
        return all(proof.safe and proof.clearance >= 0.0 for proof in proofs)

    def measured(self, state: JointState) -> None:
        """Compare the measured `state` with the commands, and update the margin.

        Raises:
            InputError: The state has a wrong shape or a number that is not finite.
        """
        self._safety.check(state.qpos, state.qvel)
        self._measured = state.qpos
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
        """Return the largest joint deviation from the commanded path, for the delay that fits best [rad]."""
        return sent.deviation(state.qpos, state.time, self._lags)

    def _find(self, state: JointState) -> None:
        """Find the motion of a robot that does not follow the last command.

        The robot follows the latest earlier motion that fits, or was pushed, or stands still. A driver rejects commands
        that do not continue its present motion. After two motions that nearly fit but were rejected, a robot at rest is
        assumed to be at its measured position, from which new commands can continue.
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
        """Restart from the measured state with a braking motion."""
        limits = self._safety.limits
        velocity = np.minimum(np.maximum(state.qvel, -limits.velocity), limits.velocity)
        start = StartState(state.qpos, velocity, np.zeros_like(velocity))
        brake = formulation.brake(start, self._safety.stopping, state.time, self.settings.hold, width)
        self._sent, self._under, self._strayed = SentMotions((state.time,), (brake,)), None, 0
        self._brake, self._seen = brake, state.time
        self._earlier.clear()

    def _keep_off(self, state: JointState) -> None:
        """Set the margin from the robot's deviation from its path; a delay along the path does not count."""
        assert self._sent is not None
        settings, elapsed = self.settings, max(0.0, state.time - self._seen)
        self._seen = state.time
        way = np.array([self._sent.sample(state.time - lag).qpos for lag in settings.lags])
        off = float(self._safety.apart(state.qpos, way).min())
        self._off = max(off, self._off * math.exp(-elapsed / settings.margin_lasts))
        self._is_doubted |= self._safety.keep_off(min(max(self._off, settings.least_margin), settings.most_margin))

    def judged_by(self, safety: SafetyFilter) -> None:
        """Replace the filter, for example after a grasp; the new one proves the present motion again."""
        safety.keep_off(self._safety.margin)
        self._safety, self._is_doubted = safety, True

    def forget(self) -> None:
        """Forget all motions, after a restart of the robot."""
        self._wanted = self._sent = self._under = None
        self._strayed, self._is_lost, self._is_stopped = 0, False, False

    def brake(self) -> None:
        """Drop the wanted plan, so that the next steps bring the robot to rest."""
        self._wanted = self._under = None

    def withdraw(self) -> None:
        """Undo the last command, which was not sent."""
        self._sent, self._under, self._is_lost = self._before
        if self._earlier:
            self._earlier.pop()

    def hear(self, plan: JointTrajectory, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """Accept `plan` as the wanted motion, and return it as a command if it is proved.

        The command may be joined to the present motion first. Without a proof the result is None, and the next steps
        aim at the plan.
        """
        if self._sent is None:
            return None
        settings, under = self.settings, self._under
        self._is_stopped = self._stops(plan)
        self._wanted, self._under = plan, None
        # A driver may start the command before `now`, so it must continue the motion from there as well.
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
        """Record that the robot follows `motion` from `begins` [s], proved under `under`."""
        assert self._sent is not None
        self._before = self._sent, before, self._is_lost
        self._earlier.append(self._sent)
        self._sent, self._under, self._is_lost = self._sent.then(motion, begins), under, False

    def _stops(self, plan: JointTrajectory) -> bool:
        """Return whether `plan` only brakes, or holds after a plan that moved."""
        slow, speeds = self.settings.same_velocity, np.abs(plan.qvel)
        if (np.diff(speeds, axis=0) > STILL).any():
            return False
        moved = self._wanted is not None and bool(np.abs(self._wanted.qvel).max() > slow)
        return self._is_stopped or moved or bool(speeds[0].max() > slow)

    def _braked(self, present: StartState, plan: JointTrajectory, now: float, away: float) -> JointTrajectory | None:
        """Return the hardest braking if it can replace `plan`, else None.

        It replaces a plan that stops the robot but arrives too late, and one that holds `away` [rad] from `present`
        after such braking. A stopping robot need not reach the planned stop.
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
        """Return the command at `now` [s]; None if the present motion continues."""
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
        """Return the command at `now` [s] for wanted accelerations (nq,) [rad/s^2] instead of a plan; see `step`."""
        if self._sent is None:
            return None
        if self._is_lost:
            return self._rescue(now, constraints)
        start = self._sent.sample(now)
        return self._filtered(start, wanted_qacc, self._sent.last.gripper_width, now, constraints)

    def _rescue(self, now: float, constraints: MotionConstraints) -> JointTrajectory:
        """Brake a robot that is off its commands as hard as possible, with or without a proof."""
        assert self._sent is not None
        start, hold, stopping = self._sent.sample(now), self.settings.hold, self._safety.stopping
        brake = formulation.brake(start, stopping, now, hold, self._sent.last.gripper_width)
        self._brake = brake
        return self._braking(brake, now, constraints, (ELSEWHERE,))

    def _braking(
        self, brake: JointTrajectory, now: float, constraints: MotionConstraints, why: tuple[str, ...]
    ) -> JointTrajectory:
        """Command `brake`, and report it as infeasible if it has no proof even without the margin."""
        proof = self._safety.prove(brake, now, replace(constraints, speed=np.inf), promised=True)
        slack = -min(proof.clearance, 0.0)
        self.filtered = Filtered(brake.qacc[0], True, why, infeasible=not proof.safe, slack=slack, refused=True)
        self._take(brake, now, None, self._under)
        return brake

    def steps(self, now: float, duration: float, constraints: MotionConstraints) -> JointTrajectory:
        """Merge the commands of the next `duration` [s], and braking after them, into one; call `measured` first."""
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
        """Return one filtered hold from `start` and braking; None if only the present motion is proved."""
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
        """Return whether the present plan is still wanted and safe, or the robot rests without one."""
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
        """Return the acceleration towards the wanted plan, or to rest without one, and the gripper width [m]."""
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
    """Build a trajectory of one hold of `qacc` (nq,) and braking to rest."""
    brake = formulation.braking(start.qvel + hold * qacc, safety.stopping.acceleration, hold)
    return formulation.integrate(start, np.concatenate([qacc[None], brake]), now, hold, width)


def joined(present: StartState, plan: JointTrajectory, now: float, within: float) -> JointTrajectory:
    """Join `present` at `now` [s] to `plan` over `within` [s], by the least changes of the plan's accelerations."""
    dt = plan.dt
    stages = max(2, round(within / dt))
    count = max(stages, int(np.ceil((formulation.end_time(plan) - now) / dt - 1e-6)))
    qpos, qvel = sample(plan, now + dt * np.arange(count + 1.0))
    qacc = (qvel[1:] - qvel[:-1]) / dt
    ahead = StartState(present.qpos - qpos[0], present.qvel - qvel[0], qacc[0])
    qacc[:stages] += formulation.transfer(ahead, np.zeros_like(ahead.qpos), stages, dt)
    return formulation.integrate(present, qacc, now, dt, plan.gripper_width)
