"""Between a stream of plans and an arm: what is proved passes as it is, the rest is followed as far as it is safe.

A plan that ends at rest and is proved from now to its end needs no filter: the robot may follow it even if it hears
nothing more. Only where there is no such plan the filter steps: it follows the wanted motion with accelerations that it
makes safe, and each of its commands is one hold and then braking, proved as well. So at every moment what the robot
follows is a proved motion to rest, and where the next cannot be proved this one goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array, JointState, JointTrajectory
from llm_planner.control.safety_filter.safety_filter import Filtered, SafetyFilter
from llm_planner.simulation.trajectory import sample

STILL = 1e-6  # [rad, rad/s] that is no motion
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
    resync: float = 0.1  # measured this far from where it should be, the robot is taken to be where it is measured


class Guard:
    """Owns no thread and reads no clock; `now` is when a command begins, in the time of plans and states."""

    def __init__(self, safety: SafetyFilter, settings: GuardSettings | None = None) -> None:
        self.settings = settings or GuardSettings()
        self.filtered = Filtered(np.zeros(safety.limits.nq))  # of the last step
        self.why = ""  # the plan that was heard last did not pass; "" where it did
        self._safety = safety
        self._wanted: JointTrajectory | None = None
        self._under: MotionConstraints | None = None  # that which the motion was passed on under, if it was
        self._motion: JointTrajectory | None = None
        self._brake: JointTrajectory | None = None  # the last that no plan had said so
        self._is_doubted = False  # whether the motion was passed on by another filter than today's

    @property
    def is_stepping(self) -> bool:
        """Whether the robot follows something else than the wanted plan."""
        return self._motion is not None and self._under is None

    def rests(self, now: float) -> bool:
        """Whether the robot stands still, and is to."""
        if self._motion is None:
            return True
        here = fallback.sample(self._motion, now)
        return bool(max(np.abs(here.qvel).max(), np.abs(self._motion.qpos[-1] - here.qpos).max()) <= STILL)

    def measured(self, state: JointState) -> None:
        """Where the robot is; it is taken to be as measured when that is not where it was sent.

        Raises InputError for numbers that are not finite.
        """
        self._safety.check(state.qpos, state.qvel)
        if self._motion is not None:
            away = np.abs(state.qpos - fallback.sample(self._motion, state.time).qpos).max()
            if away <= self.settings.resync:
                return
        limits, width = self._safety.limits, KEEP_WIDTH if self._motion is None else self._motion.gripper_width
        velocity = np.minimum(np.maximum(state.qvel, -limits.velocity), limits.velocity)
        start = StartState(state.qpos, velocity, np.zeros_like(velocity))
        self._under = None
        brake = fallback.brake(start, self._safety.stopping, state.time, self.settings.hold, width)
        self._motion = self._brake = brake

    def judged_by(self, safety: SafetyFilter) -> None:
        """Another filter from now on, as when the robot has taken hold of something; it proves anew what goes on."""
        self._safety, self._is_doubted = safety, True

    def forget(self) -> None:
        """The robot was restarted: nothing of before counts."""
        self._wanted = self._motion = self._under = None

    def hear(self, plan: JointTrajectory, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """`plan` as a command, if need be joined to the motion, where it is proved; else None, and steps aim at it."""
        if self._motion is None:
            return None
        self._wanted, self._under = plan, None
        present, wanted = fallback.sample(self._motion, now), fallback.sample(plan, now)
        away, faster = np.abs(wanted.qpos - present.qpos).max(), np.abs(wanted.qvel - present.qvel).max()
        settings = self.settings
        if not (away <= settings.joined_position and faster <= settings.joined_velocity):
            self.why = "it begins elsewhere"
            return None
        if away > settings.same_position or faster > settings.same_velocity:
            plan = self._braked(present, plan, now, away) or joined(present, plan, now, settings.joining)
        self.why = self._safety.prove(plan, now, constraints).why
        if self.why:
            return None
        self._motion, self._under = plan, constraints
        return plan

    def _braked(
        self, present: StartState, plan: JointTrajectory, now: float, away: float
    ) -> JointTrajectory | None:  # fmt: skip
        """The hardest braking, where `plan` only brakes and was heard late, or stands where such braking was to end,
        `away` [rad] from `present`; None for any other plan.

        Whoever stops need not come back to where he was to have stopped.
        """
        settings = self.settings
        brake = fallback.brake(present, self._safety.stopping, now, settings.hold, plan.gripper_width)
        rests = fallback.end_time(plan) <= fallback.end_time(brake) + settings.joining
        stays = self._motion is self._brake and away <= settings.apart
        if not (rests and (stays or _only_brakes(plan, settings.same_velocity))):
            return None
        self._brake = brake
        return brake

    def step(self, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """The command at `now`; None where the motion under way stays as it is."""
        if self._motion is None or self._goes_on(now, constraints):
            return None
        start = fallback.sample(self._motion, now)
        wanted, width = self._wish(start, now)
        return self._filtered(start, wanted, width, now, constraints)

    def accelerate(self, wanted_qacc: Array, now: float, constraints: MotionConstraints) -> JointTrajectory | None:
        """As `step`, for a commander that wants accelerations (nq,) instead of plans."""
        if self._motion is None:
            return None
        start = fallback.sample(self._motion, now)
        return self._filtered(start, wanted_qacc, self._motion.gripper_width, now, constraints)

    def steps(self, now: float, duration: float, constraints: MotionConstraints) -> JointTrajectory:
        """All commands of the coming `duration` [s] as one, and braking after them; a state was `measured` before."""
        count = max(1, round(duration / self.settings.hold))
        hold = duration / count
        motion = self._motion
        assert motion is not None
        states = [fallback.sample(motion, now)]
        for k in range(count):
            self.step(now + k * hold, constraints)
            states.append(fallback.sample(self._motion or motion, now + (k + 1) * hold))
        last = self._motion or motion
        brake = fallback.brake(states[-1], self._safety.stopping, now + duration, hold, last.gripper_width)
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
        assert self._motion is not None
        self._under, hold = None, self.settings.hold
        self.filtered = self._safety.filter(start.qpos, start.qvel, wanted, constraints, hold)
        if self.filtered.refused and self._safety.prove(self._motion, now, replace(constraints, speed=np.inf)).safe:
            self.filtered = replace(self.filtered, infeasible=False)
            return None
        self._motion = _held(start, self.filtered.qacc, self._safety, now, hold, width)
        return self._motion

    def _goes_on(self, now: float, constraints: MotionConstraints) -> bool:
        """Whether the plan that was passed on is still wanted and safe; at rest nothing has to be."""
        if self._wanted is None or self._is_stale(now):
            return self.rests(now)
        is_new = self._is_doubted or self._under != constraints
        if self._motion is not None and self._under is not None and is_new:
            self._is_doubted = False
            self._under = constraints if self._safety.prove(self._motion, now, constraints).safe else None
        return self._under is not None

    def _is_stale(self, now: float) -> bool:
        return self._wanted is None or now > self._wanted.start_time + self.settings.silence

    def _wish(self, start: StartState, now: float) -> tuple[Array, float]:
        """The acceleration that leads onto the wanted plan, or to rest without one; and the width of the gripper."""
        hold, frequency = self.settings.hold, self.settings.frequency
        if self._wanted is None or self._is_stale(now):
            width = KEEP_WIDTH if self._motion is None else self._motion.gripper_width
            braking = self._safety.stopping.acceleration
            return np.minimum(np.maximum(-start.qvel / hold, -braking), braking), width
        here, there = fallback.sample(self._wanted, now), fallback.sample(self._wanted, now + hold)
        ahead = (there.qvel - here.qvel) / hold
        spring = frequency * frequency * (here.qpos - start.qpos) + 2.0 * frequency * (here.qvel - start.qvel)
        return ahead + spring, self._wanted.gripper_width


def _only_brakes(plan: JointTrajectory, slow: float) -> bool:
    """Whether it begins faster than `slow` [rad/s], and no joint ever gets faster."""
    speeds = np.abs(plan.qvel)
    return bool(speeds[0].max() > slow and (np.diff(speeds, axis=0) <= STILL).all())


def _held(
    start: StartState, qacc: Array, safety: SafetyFilter, now: float, hold: float, width: float
) -> JointTrajectory:
    """One hold of `qacc` (nq,), then braking to rest."""
    brake = fallback.braking(start.qvel + hold * qacc, safety.stopping.acceleration, hold)
    return fallback.integrate(start, np.concatenate([qacc[None], brake]), now, hold, width)


def joined(present: StartState, plan: JointTrajectory, now: float, within: float) -> JointTrajectory:
    """From `present` at `now` [s] onto `plan`, `within` some seconds, by the least changes of its accelerations."""
    dt = plan.dt
    stages = max(2, round(within / dt))
    count = max(stages, int(np.ceil((fallback.end_time(plan) - now) / dt - 1e-6)))
    qpos, qvel = sample(plan, now + dt * np.arange(count + 1.0))
    qacc = (qvel[1:] - qvel[:-1]) / dt
    faster = present.qvel - qvel[0]
    farther = present.qpos - qpos[0] + stages * dt * faster
    gains = np.array([np.full(stages, dt), dt * dt * (stages - 0.5 - np.arange(stages))])
    qacc[:stages] -= gains.T @ np.linalg.solve(gains @ gains.T, np.array([faster, farther]))
    return fallback.integrate(present, qacc, now, dt, plan.gripper_width)
