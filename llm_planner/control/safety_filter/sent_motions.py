"""The motions that were sent to a driver, and which of them it follows at what time."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from llm_planner.control import fallback
from llm_planner.control.formulation import StartState
from llm_planner.control.reference import JointTrajectory


@dataclass(frozen=True)
class SentMotions:
    """`motions`, each in force from its time in `begins` [s] until the next one begins; the last to its end at rest."""

    begins: tuple[float, ...]
    motions: tuple[JointTrajectory, ...]

    @property
    def last(self) -> JointTrajectory:
        """The motion that brings the robot to rest."""
        return self.motions[-1]

    def then(self, motion: JointTrajectory, begins: float) -> SentMotions:
        """With `motion` sent: as in a driver, it replaces those that were to begin at the same time or later."""
        kept = len([time for time in self.begins if time < begins - 1e-9])
        return SentMotions((*self.begins[:kept], begins), (*self.motions[:kept], motion))

    def since(self, time: float) -> SentMotions:
        """Without those that were over by `time` [s]."""
        first = self._index(time)
        return SentMotions(self.begins[first:], self.motions[first:]) if first else self

    def sample(self, time: float) -> StartState:
        """Where the robot is to be at `time` [s]."""
        return fallback.sample(self.motions[self._index(time)], time)

    def _index(self, time: float) -> int:
        return max(0, bisect_right(self.begins, time + 1e-9) - 1)
