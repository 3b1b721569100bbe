"""Waiting for a condition, for so long, without standing still."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class _Wait:
    condition: Callable[[], bool]
    proceed: Callable[[], None]
    give_up: Callable[[], None]
    deadline: float  # [s] of the clock


class Patience:
    """One wait at a time; a new one takes the place of the old."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._wait: _Wait | None = None

    def once(
        self,
        condition: Callable[[], bool],
        proceed: Callable[[], None],
        give_up: Callable[[], None],
        seconds: float = 0.0,
    ) -> None:
        """Proceed when `condition` holds, at once if it does, or give up after its seconds, at least `seconds`."""
        self._wait = _Wait(condition, proceed, give_up, self._clock() + max(self._seconds, seconds))
        self.look()

    def forget(self) -> None:
        """Wait no more."""
        self._wait = None

    def look(self) -> None:
        """To be called whenever something may have changed, and a few times a second."""
        wait = self._wait
        if wait is None:
            return
        go_on = wait.proceed if wait.condition() else wait.give_up if self._clock() > wait.deadline else None
        if go_on is not None:
            self._wait = None
            go_on()
