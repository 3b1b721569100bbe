"""What a robot's own driver does to commands: whatever arrives, and however late, the joints keep their limits.

A command that continues the one before it passes through unchanged. One that does not (it came late, or from another
controller) is caught up with like a critically damped spring would, within the limits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from llm_planner.control.fallback import sample
from llm_planner.control.reference import Array, JointTrajectory
from llm_planner.simulation.panda import RobotLimits

FREQUENCY = 10.0  # [rad/s] of the spring
# Of the robot's limits that a command may use; above what the controller plans with (`LimitShare`). Servos overshoot
# where the acceleration leaps, most of all while a thing is lifted off the table: up to a third was measured.
SHARE = 0.8
DISTANCE_MAX = 0.3  # [rad] from the present command at which a new one may begin
STAGE = 0.005  # [s] of constant acceleration


class RateLimiter:
    """Follows trajectories from rest at `qpos` (nq,) [rad]."""

    def __init__(self, limits: RobotLimits, qpos: Array) -> None:
        self._qvel_max, self._qacc_max = SHARE * limits.qvel_max, SHARE * limits.qacc_max
        self.qpos, self.qvel = qpos.copy(), np.zeros_like(qpos)

    def distance(self, trajectory: JointTrajectory, time: float, measured: Array) -> float:
        """How far from the joints `trajectory` begins, or is by `time` [s]: the largest difference [rad].

        From where they are commanded, or from where they are `measured` (nq,), if that is nearer: something may hold
        them, and a command from there has to free them.
        """
        wanted = sample(trajectory, max(time, trajectory.start_time)).qpos
        return float(min(np.abs(wanted - self.qpos).max(), np.abs(wanted - measured).max()))

    def advance(
        self, in_force: Callable[[float], JointTrajectory], time: float, duration: float
    ) -> JointTrajectory:  # fmt: skip
        """The motion from `time` on for `duration` [s], a whole number of stages, towards what is `in_force` then."""
        count = round(duration / STAGE)
        qpos, qvel, qacc = [self.qpos], [self.qvel], []
        for k in range(count):
            start = time + k * STAGE
            trajectory, following = in_force(start), in_force(start + STAGE)
            acceleration = self._acceleration(trajectory, following, start)
            qacc.append(acceleration)
            self.qpos = self.qpos + STAGE * self.qvel + 0.5 * STAGE * STAGE * acceleration
            self.qvel = self.qvel + STAGE * acceleration
            qpos.append(self.qpos)
            qvel.append(self.qvel)
        return JointTrajectory(time, STAGE, np.array(qpos), np.array(qvel), np.array(qacc), following.gripper_width)

    def _acceleration(self, trajectory: JointTrajectory, following: JointTrajectory, time: float) -> Array:
        """Over a stage from `time` [s] on, at the end of which `following` is in force; what it leaps from
        `trajectory` is caught up with later."""
        wanted = sample(trajectory, time)
        leap = min(max(following.start_time, time), time + STAGE)
        ahead = _gained(trajectory, time, leap) + _gained(following, leap, time + STAGE)
        spring = FREQUENCY * FREQUENCY * (wanted.qpos - self.qpos) + 2.0 * FREQUENCY * (wanted.qvel - self.qvel)
        slowest, fastest = (-self._qvel_max - self.qvel) / STAGE, (self._qvel_max - self.qvel) / STAGE
        wished = np.clip(ahead / STAGE + spring, slowest, fastest)
        limited: Array = np.clip(wished, -self._qacc_max, self._qacc_max)
        return limited


def _gained(trajectory: JointTrajectory, since: float, until: float) -> Array:
    """By how much the joints get faster (nq,) [rad/s]."""
    gained: Array = sample(trajectory, until).qvel - sample(trajectory, since).qvel
    return gained
