"""The robot's time, from the stamps of states that come late, in bursts, or not at all for a while."""

from __future__ import annotations

from collections import deque
from statistics import median

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
