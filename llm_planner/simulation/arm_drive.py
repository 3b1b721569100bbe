"""What a robot's own driver does to commands: whatever arrives, and however late, the joints keep their limits.

A command that continues the one before it passes through unchanged. One that does not (it came late, or from another
controller) is caught up with like a critically damped spring would, within the limits.

Which of the trajectories received is in force: each from its own start time on, as joint controllers do.

A trajectory that would make the joints leap is not taken: it came too late, or another one before it was lost. The one
in force goes on to its end, which is rest.

How fast simulated time goes on a busy machine: only as fast as commands come in time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from llm_planner.control.formulation import sample
from llm_planner.robots.motion import Array, JointTrajectory
from llm_planner.robots.robots import RobotLimits

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


PATIENCE = 1.0  # [s] a trajectory that starts later than this is of another time and is not waited for
LEAP = 0.03  # [rad] that joints may stray while they catch up with a trajectory that does not quite lead on
CATCHING_UP = 0.037  # [s] by which a leap of the velocity makes them stray: 1 / (e 10 rad/s), of the driver's spring
ELSEWHERE = 0.05  # [rad] measured this far from where they should be, joints may be told to go on from there


class CommandQueue:
    """Holds the trajectory in force and those that start later. A new one replaces all that start after it."""

    def __init__(self, resting: JointTrajectory) -> None:
        self._in_force = resting
        self._waiting: deque[JointTrajectory] = deque()

    def refusal(self, trajectory: JointTrajectory, now: float, measured: Array) -> str:
        """Why not to take a trajectory at `now` [s], of a robot whose joints are `measured` (nq,); "" to take it."""
        late = now - trajectory.start_time
        if trajectory.start_time < 0.0:
            return f"it is of an earlier run: it began {late:.2f} s ago"
        if late < -PATIENCE:
            return f"it begins {-late:.2f} s from now; at most {PATIENCE} s are waited"
        begins = max(trajectory.start_time, now)
        wanted, present = sample(trajectory, begins), sample(self._at(begins), begins)
        leap = np.abs(wanted.qpos - present.qpos) + CATCHING_UP * np.abs(wanted.qvel - present.qvel)
        if leap.max() <= LEAP:
            return ""
        is_elsewhere = np.abs(measured - sample(self._at(now), now).qpos).max() > ELSEWHERE
        if is_elsewhere and np.abs(wanted.qpos - measured).max() <= ELSEWHERE:
            return ""
        begun = f"{1e3 * late:.0f} ms too late" if late > 0.0 else "in time"
        return (
            f"it came {begun} and is {leap.max():.3f} rad off the motion under way, which goes on to its rest; "
            f"at most {LEAP} rad are caught up with"
        )

    def add(self, trajectory: JointTrajectory, now: float) -> bool:
        """Takes a trajectory at the time `now` [s]; False when its start is not of this run, which began at 0."""
        if not 0.0 <= trajectory.start_time <= now + PATIENCE:
            return False
        while self._waiting and self._waiting[-1].start_time >= trajectory.start_time:
            self._waiting.pop()
        self._waiting.append(trajectory)
        return True

    def at(self, time: float) -> JointTrajectory:
        """The trajectory to follow from `time` [s]."""
        while self._waiting and self._waiting[0].start_time <= time + 1e-9:
            self._in_force = self._waiting.popleft()
        return self._in_force

    def _at(self, time: float) -> JointTrajectory:
        """That which will be in force at `time` [s] if no other comes."""
        due = [trajectory for trajectory in self._waiting if trajectory.start_time <= time + 1e-9]
        return due[-1] if due else self._in_force


LATE = 0.01  # [s] after its beginning that a command may come, in simulated time
LEAST = 0.05  # share of the pace that is asked for
SLOWER, FASTER = 0.9, 0.005  # factor for each command that came too late, summand for each that came in time
OF_ANOTHER_TIME = 1.0  # [s] late: such a command says nothing of the machine


class Pace:
    """The share of the pace asked for at which simulated time goes on: `share`, at most 1.

    A real robot does not wait for a controller that is late, and its driver refuses what comes too late. A simulated
    one waits: else commands of processes that share the machine with the simulation would be refused for ever.
    """

    def __init__(self) -> None:
        self.share = 1.0

    def heard(self, late: float) -> None:
        """A command came `late` [s, simulated time] after it was to begin."""
        if LATE < late < OF_ANOTHER_TIME:
            self.share = max(LEAST, self.share * SLOWER)
        else:
            self.share = min(1.0, self.share + FASTER)
