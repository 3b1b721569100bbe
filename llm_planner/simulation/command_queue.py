"""Which of the trajectories received is in force: each from its own start time on, as joint controllers do."""

from __future__ import annotations

from collections import deque

from llm_planner.control.reference import JointTrajectory

PATIENCE = 1.0  # [s] a trajectory that starts later than this is of another time and is not waited for


class CommandQueue:
    """Holds the trajectory in force and those that start later. A new one replaces all that start after it."""

    def __init__(self, resting: JointTrajectory) -> None:
        self._in_force = resting
        self._waiting: deque[JointTrajectory] = deque()

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
