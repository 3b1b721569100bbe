"""Timing of commands: the motions sent to a driver, and the robot's time from stamps of delayed states."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from statistics import median

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.safety_filter import kernel
from llm_planner.robots.motion import Array, JointTrajectory


@dataclass(frozen=True)
class SentMotions:
    """Sequence of `motions`, each in force from its time in `begins` [s] until the next; the last ends at rest."""

    begins: tuple[float, ...]
    motions: tuple[JointTrajectory, ...]

    @property
    def last(self) -> JointTrajectory:
        """Last motion, which brings the robot to rest."""
        return self.motions[-1]

    def then(self, motion: JointTrajectory, begins: float) -> SentMotions:
        """Append `motion`; as in a driver, it replaces motions that begin at the same time or later."""
        kept = len([time for time in self.begins if time < begins - 1e-9])
        return SentMotions((*self.begins[:kept], begins), (*self.motions[:kept], motion))

    def since(self, time: float) -> SentMotions:
        """Drop the motions that ended by `time` [s]."""
        first = self._index(time)
        return SentMotions(self.begins[first:], self.motions[first:]) if first else self

    def sample(self, time: float) -> StartState:
        """Sample the commanded state at `time` [s]."""
        return formulation.sample(self.motions[self._index(time)], time)

    def deviation(self, qpos: Array, time: float, lags: Array) -> float:
        """Return the largest deviation of a joint from the commands, for the delay that fits best [rad].

        Args:
            qpos: Positions measured at `time`, (nq,) [rad].
            time: Time of the measurement [s].
            lags: Possible delays, (k,) [s], in ascending order.
        """
        last = self._index(time - float(lags[-1])) + 1 == len(self.motions)  # it was in force whatever the delay
        each = [lags] if last else [lags[k : k + 1] for k in range(len(lags))]
        return min(self._off(qpos, time, some) for some in each)

    def _off(self, qpos: Array, time: float, lags: Array) -> float:
        motion = self.motions[self._index(time - float(lags[0]))]
        elapsed, whole = time - motion.start_time, np.ascontiguousarray
        return kernel.deviation(
            whole(motion.qpos), whole(motion.qvel), whole(motion.qacc), motion.dt, elapsed, qpos, lags
        )

    def _index(self, time: float) -> int:
        return max(0, bisect_right(self.begins, time + 1e-9) - 1)


REMEMBERED = 20  # states: the last 0.2 s at 100 Hz
UNHEARD = 0.05  # [s] of wall time without a state after which the robot's time is unknown


class RobotClock:
    """Estimator of the robot's time from recent states. It reads no clock.

    States can be late but never early, so the least delayed state determines the time.
    """

    def __init__(self) -> None:
        self._heard: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)  # stamp, wall time of arrival

    def heard(self, stamp: float, wall: float) -> None:
        """Record a state with robot time `stamp` [s] that arrived at `wall` [s, monotonic]."""
        self._heard.append((stamp, wall))

    def forget(self) -> None:
        """Forget all states, after a restart of the robot's clock."""
        self._heard.clear()

    def is_known(self, wall: float) -> bool:
        """Return whether the robot's time is known at `wall` [s, monotonic]."""
        return bool(self._heard) and wall <= self._heard[-1][1] + UNHEARD

    def now(self, wall: float) -> float:
        """Return the robot's time at `wall` [s, monotonic]; minus infinity before the first state."""
        pace = self._pace()
        return max((stamp + pace * (wall - at) for stamp, at in self._heard), default=float("-inf"))

    def _pace(self) -> float:
        """Return the real-time factor, which is below 1 in a slow simulation and never above."""
        pairs = zip(self._heard, list(self._heard)[1:], strict=False)
        paces = [(stamp - before) / (at - then) for (before, then), (stamp, at) in pairs if at > then]
        return min(1.0, median(paces)) if paces else 1.0
