"""The motions that were sent to a driver, and which of them it follows at what time.

The robot's time, from the stamps of states that come late, in bursts, or not at all for a while.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from statistics import median

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.robots.motion import JointTrajectory


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
        return formulation.sample(self.motions[self._index(time)], time)

    def _index(self, time: float) -> int:
        return max(0, bisect_right(self.begins, time + 1e-9) - 1)


REMEMBERED = 20  # states: at 100 Hz, those of the last 0.2 s before they stopped coming
UNHEARD = 0.05  # [s] by the wall after which nobody knows what the robot's time is


class RobotClock:
    """A state can come late, but never early: the earliest of the last ones tells the time. Reads no clock itself."""

    def __init__(self) -> None:
        self._heard: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)  # stamp, and when it came by the wall

    def heard(self, stamp: float, wall: float) -> None:
        """A state of the robot's time `stamp` [s] came at `wall` [s, monotonic]."""
        self._heard.append((stamp, wall))

    def forget(self) -> None:
        """The robot's time began anew."""
        self._heard.clear()

    def is_known(self, wall: float) -> bool:
        """Whether the robot's time is known at `wall` [s, monotonic]."""
        return bool(self._heard) and wall <= self._heard[-1][1] + UNHEARD

    def now(self, wall: float) -> float:
        """The robot's time at `wall` [s, monotonic]; minus infinity before any state."""
        pace = self._pace()
        return max((stamp + pace * (wall - at) for stamp, at in self._heard), default=float("-inf"))

    def _pace(self) -> float:
        """Seconds of the robot's time a second: less than 1 where a simulation is slower than the wall."""
        pairs = zip(self._heard, list(self._heard)[1:], strict=False)
        paces = [(stamp - before) / (at - then) for (before, then), (stamp, at) in pairs if at > then]
        return min(1.0, median(paces)) if paces else 1.0
