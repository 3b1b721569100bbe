"""How old the robot's states are, why none arrive, and how fast a simulation runs as they show.

On a busy computer the states of a simulated robot come late, not never.
"""

from __future__ import annotations

import time
from collections import deque

from rclpy.node import Node

WINDOW = 10.0  # [s, wall time] over which the pace is measured
LEAST = 2.0  # [s, wall time] of states that say something about the pace
SLOW = 0.2  # share of real time below which a computer counts as too slow


class SimulationPace:
    """Measures the clock of a simulated robot against wall time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()  # robot's time and wall time of each state [s]

    def saw(self, time: float, wall: float) -> None:
        """Record a state with the robot's `time` [s] that arrived at `wall` [s, monotonic]."""
        if self._seen and time < self._seen[-1][0]:  # the simulation has restarted
            self._seen.clear()
        self._seen.append((time, wall))
        while wall - self._seen[0][1] > WINDOW:
            self._seen.popleft()

    def told(self, wall: float) -> str:
        """Say at `wall` [s] that the computer is too slow, with the measured pace; "" if nothing shows that."""
        recent = [one for one in self._seen if wall - one[1] <= WINDOW]
        if not recent:
            return ""
        (began, first), (last, _) = recent[0], recent[-1]
        if wall - first < LEAST or last - began > SLOW * (wall - first):
            return ""
        return (
            f": this computer is too slow for the simulation, whose clock went {last - began:.2f} s in the last "
            f"{wall - first:.1f} s ({len(recent)} states); end other programs, or lower the parameter real_time_factor"
        )


class StateWatch:
    """Watches the robot's states on a topic that `node` subscribes to."""

    def __init__(self, node: Node, topic: str, is_simulated: bool) -> None:
        self._node, self._topic, self._is_simulated = node, topic, is_simulated
        self._heard, self._flaw, self._pace = time.monotonic(), "", SimulationPace()
        self._count = 0

    def saw(self, stamp: float) -> None:
        """Record a state with the robot's time `stamp` [s] that arrives now."""
        self._heard, self._flaw = time.monotonic(), ""
        self._count += 1
        self._pace.saw(stamp, self._heard)

    def refused(self, why: str) -> None:
        """Record that a state cannot be used."""
        self._flaw = why

    @property
    def silence(self) -> float:
        """Wall time since the last usable state [s]."""
        return time.monotonic() - self._heard

    @property
    def why(self) -> str:
        """Reason for which no usable state arrives."""
        if self._flaw:
            return f"the robot's {self._topic} cannot be used: {self._flaw}"
        if not self._node.count_publishers(self._topic):
            return f"nothing publishes the robot's {self._topic} (any more)"
        return f"the robot's {self._topic} do not arrive{self.slowness}"

    @property
    def slowness(self) -> str:
        """Text that the computer is too slow for the simulation, with a colon before it; "" if it is not."""
        return self._pace.told(time.monotonic()) if self._is_simulated else ""

    def count(self) -> int:
        """Return the number of usable states since the last call."""
        count, self._count = self._count, 0
        return count
