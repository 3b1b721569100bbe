"""Which of the trajectories received is in force: each from its own start time on, as joint controllers do.

A trajectory that would make the joints leap is not taken: it came too late, or another one before it was lost. The one
in force goes on to its end, which is rest.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from llm_planner.control.fallback import sample
from llm_planner.control.reference import Array, JointTrajectory

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
