"""Models of an arm's driver: trajectory queue, rate limiter, and pace of simulated time.

Each trajectory is in force from its own start time, as in joint controllers. A trajectory that would make the joints
leap, because it is late or a previous one was lost, is refused; the one in force runs to its end, which is at rest. The
rate limiter passes a continuous command through unchanged, and tracks a discontinuous one like a critically damped
spring within the joint limits. Simulated time runs only as fast as commands arrive in time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from llm_planner.control.formulation import sample
from llm_planner.robots.limits import RobotLimits
from llm_planner.robots.motion import Array, JointTrajectory

FREQUENCY = 10.0  # [rad/s] natural frequency of the spring
# Share of the robot's limits for commands; above the controller's own (`LimitShare`). Servos overshoot
# at jumps of the acceleration, by up to a third (measured while lifting objects off the table).
SHARE = 0.8
STAGE = 0.005  # [s] of constant acceleration
PARTS = 5  # of a stage; one change of trajectory per part


class RateLimiter:
    """Tracks trajectories within the limits, from rest at `qpos` (nq,) [rad]."""

    def __init__(self, limits: RobotLimits, qpos: Array) -> None:
        self._qvel_max, self._qacc_max = SHARE * limits.qvel_max, SHARE * limits.qacc_max
        self.qpos, self.qvel = qpos.copy(), np.zeros_like(qpos)

    def advance(
        self, in_force: Callable[[float], JointTrajectory], time: float, duration: float
    ) -> JointTrajectory:  # fmt: skip
        """Return the motion from `time` on for `duration` [s], a whole number of stages.

        `in_force` gives the trajectory to track at a time [s].
        """
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
        """Return the acceleration over the stage from `time` [s] on.

        Several trajectories may be in force during a stage. Jumps of the joints between them are corrected later.
        """
        trajectory, since = in_force(time), time
        wanted, ahead = sample(trajectory, time), np.zeros_like(self.qpos)
        for k in range(PARTS):
            until = time + (k + 1) * STAGE / PARTS
            following = in_force(until)
            if following is not trajectory:
                leap = min(max(following.start_time, time + k * STAGE / PARTS), until)
                ahead += _gained(trajectory, since, leap)
                trajectory, since = following, leap
        ahead += _gained(trajectory, since, time + STAGE)
        spring = FREQUENCY * FREQUENCY * (wanted.qpos - self.qpos) + 2.0 * FREQUENCY * (wanted.qvel - self.qvel)
        slowest, fastest = (-self._qvel_max - self.qvel) / STAGE, (self._qvel_max - self.qvel) / STAGE
        wished = np.clip(ahead / STAGE + spring, slowest, fastest)
        limited: Array = np.clip(wished, -self._qacc_max, self._qacc_max)
        return limited


def _gained(trajectory: JointTrajectory, since: float, until: float) -> Array:
    """Return the change of joint velocity (nq,) [rad/s]."""
    gained: Array = sample(trajectory, until).qvel - sample(trajectory, since).qvel
    return gained


PATIENCE = 1.0  # [s] from now, latest start of a trajectory; beyond, it belongs to another run
LEAP = 0.03  # [rad] largest joint error while tracking a discontinuous trajectory
CATCHING_UP = 0.037  # [s] joint error per velocity jump of the spring: 1 / (e 10 rad/s)
ELSEWHERE = 0.05  # [rad] tracking error beyond which commands may continue from the measured joints


class CommandQueue:
    """Queue of the trajectory in force and later ones. A new trajectory replaces all that start after it."""

    def __init__(self, resting: JointTrajectory) -> None:
        self._in_force = resting
        self._waiting: deque[JointTrajectory] = deque()

    def refusal(self, trajectory: JointTrajectory, now: float, measured: Array) -> str:
        """Return why a trajectory is refused at `now` [s] with `measured` joints (nq,) [rad]; "" if it is accepted."""
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
        """Add a trajectory at `now` [s]. Returns False if its start is not in this run, which began at 0."""
        if not 0.0 <= trajectory.start_time <= now + PATIENCE:
            return False
        while self._waiting and self._waiting[-1].start_time >= trajectory.start_time:
            self._waiting.pop()
        self._waiting.append(trajectory)
        return True

    def at(self, time: float) -> JointTrajectory:
        """Return the trajectory to follow from `time` [s], and drop earlier ones."""
        while self._waiting and self._waiting[0].start_time <= time + 1e-9:
            self._in_force = self._waiting.popleft()
        return self._in_force

    def _at(self, time: float) -> JointTrajectory:
        """Return the trajectory that will be in force at `time` [s] unless another one is added."""
        due = [trajectory for trajectory in self._waiting if trajectory.start_time <= time + 1e-9]
        return due[-1] if due else self._in_force


LATE = 0.01  # [s, simulated] largest delay of a command that counts as in time
LEAST = 0.05  # lowest share of the requested pace
SLOWER, FASTER = 0.9, 0.005  # factor per late command, increment per timely one
OF_ANOTHER_TIME = 1.0  # [s] delay beyond which a command says nothing about the machine's load


class Pace:
    """Share of the requested pace at which simulated time runs, at most 1.

    A real robot does not wait for a late controller, and its driver refuses late commands. The simulation waits, since
    otherwise it would keep refusing commands of processes that share its machine.
    """

    def __init__(self) -> None:
        self.share = 1.0
        self._start = -1.0  # of the newest command [s]

    def heard(self, now: float, start: float) -> None:
        """Update the pace for a command that arrives `now` and begins at `start` [s, simulated time].

        A command that begins when the one before began is that one, sent again, as a stop is until the robot rests: it
        says nothing about the controller's pace.
        """
        again, self._start, late = start == self._start, start, now - start
        if again:
            return
        if LATE < late < OF_ANOTHER_TIME:
            self.share = max(LEAST, self.share * SLOWER)
        else:
            self.share = min(1.0, self.share + FASTER)
