"""Which runs of skills are followed: the newest, and none that another has come after."""

from __future__ import annotations

import math
from collections import deque

REMEMBERED = 64  # runs that are over


class Runs:
    """Epochs are compared run by run, so that a number that nobody can exceed shuts nobody out for long.

    A run that was followed and then left for another is over for good. One that was never followed and whose epoch lies
    below the newest is refused only for `stale_for` [s] after the newest was heard: later, whatever was sent before
    that is void by its own time.
    """

    def __init__(self, stale_for: float) -> None:
        self.epoch = 0  # of the newest
        self._stale_for = stale_for
        self._heard = -math.inf  # when it was followed last [s]
        self._over: deque[int] = deque(maxlen=REMEMBERED)

    def objection(self, epoch: int, now: float) -> str:
        """Why no reference of the run `epoch` is followed at `now` [s], in words; "" where it is."""
        stale = epoch < self.epoch and now <= self._heard + self._stale_for
        if stale or epoch in self._over:
            return f"a reference of the earlier skill run {epoch} came; the run is {self.epoch}"
        return ""

    def followed(self, epoch: int, now: float) -> None:
        """A reference of the run `epoch` is followed."""
        if epoch != self.epoch:
            self._over.append(self.epoch)
        self.epoch, self._heard = epoch, now

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`."""
        self._heard = now
