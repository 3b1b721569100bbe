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
STAGE = 0.005  # [s] of constant acceleration
PARTS = 5  # of a stage, in each of which one trajectory may follow another


class RateLimiter:
    """Follows trajectories from rest at `qpos` (nq,) [rad]."""

    def __init__(self, limits: RobotLimits, qpos: Array) -> None:
        self._qvel_max, self._qacc_max = SHARE * limits.qvel_max, SHARE * limits.qacc_max
        self.qpos, self.qvel = qpos.copy(), np.zeros_like(qpos)

    def advance(
        self, in_force: Callable[[float], JointTrajectory], time: float, duration: float
    ) -> JointTrajectory:  # fmt: skip
        """The motion from `time` on for `duration` [s], a whole number of stages, towards what is `in_force` then."""
        count = round(duration / STAGE)
        qpos, qvel, qacc = [self.qpos], [self.qvel], []
        for k in range(count):
            acceleration = self._acceleration(in_force, time + k * STAGE)
            qacc.append(acceleration)
            self.qpos = self.qpos + STAGE * self.qvel + 0.5 * STAGE * STAGE * acceleration
            self.qvel = self.qvel + STAGE * acceleration
            qpos.append(self.qpos)
            qvel.append(self.qvel)
        return JointTrajectory(
            time, STAGE, np.array(qpos), np.array(qvel), np.array(qacc), in_force(time + count * STAGE).gripper_width
        )

    def _acceleration(self, in_force: Callable[[float], JointTrajectory], time: float) -> Array:
        """Over a stage from `time` [s] on, however many trajectories are in force in it; what the joints leap from one
        to the next is caught up with later.
        """
        trajectory = in_force(time)
        wanted, ahead = sample(trajectory, time), np.zeros_like(self.qpos)
        for k in range(PARTS):
            since, until = time + k * STAGE / PARTS, time + (k + 1) * STAGE / PARTS
            following = in_force(until)
            leap = min(max(following.start_time, since), until)
            ahead += _gained(trajectory, since, leap) + _gained(following, leap, until)
            trajectory = following
        spring = FREQUENCY * FREQUENCY * (wanted.qpos - self.qpos) + 2.0 * FREQUENCY * (wanted.qvel - self.qvel)
        slowest, fastest = (-self._qvel_max - self.qvel) / STAGE, (self._qvel_max - self.qvel) / STAGE
        wished = np.clip(ahead / STAGE + spring, slowest, fastest)
        limited: Array = np.clip(wished, -self._qacc_max, self._qacc_max)
        return limited


def _gained(trajectory: JointTrajectory, since: float, until: float) -> Array:
    """By how much the joints get faster (nq,) [rad/s]."""
    gained: Array = sample(trajectory, until).qvel - sample(trajectory, since).qvel
    return gained
