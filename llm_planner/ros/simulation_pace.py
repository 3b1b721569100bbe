"""How fast a simulation runs, as the states of its robot show: on a busy computer they come late, not never."""

from __future__ import annotations

from collections import deque

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
