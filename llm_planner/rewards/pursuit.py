"""When a motion that is planned again and again has nothing more to gain."""

from __future__ import annotations

import math

GAIN_LEAST = 0.005  # in costs: a motion that promises less is not worth it
PATIENCE = 3.0  # [s] without the scene coming so much nearer to what is wanted, whatever plans promise


class Pursuit:
    """Watches what plans promise and what comes of them; `idle` steps in a row that promise nothing end it."""

    def __init__(self, time: float, idle: int) -> None:
        self._idle_most = idle
        self._idle = 0
        self._best, self._since = math.inf, time

    def goes_on(self, time: float, stayed: float, planned: float) -> bool:
        """Whether to go on at `time` [s], where to stay would cost `stayed` and the best plan costs `planned`."""
        self._idle = self._idle + 1 if stayed - planned < GAIN_LEAST else 0
        if stayed < self._best - GAIN_LEAST:
            self._best, self._since = stayed, time
        return self._idle < self._idle_most and time - self._since < PATIENCE
