"""How long another process has said nothing, as far as we were listening."""

from __future__ import annotations

import math

LONGEST_LOOK = 0.6  # [s] that one look may add by default: a longer gap means that we were held up ourselves


class Silence:
    """Counts while it is looked at, a few times a second.

    What was said while we were held up still waits to be read: such a gap says nothing about the other process.
    """

    def __init__(self, longest_look: float = LONGEST_LOOK) -> None:
        """`longest_look` [s] is the most that one look adds."""
        self._longest_look = longest_look
        self.seconds = math.inf  # nothing was ever heard
        self._looked = math.inf

    def heard(self) -> None:
        """Something was said."""
        self.seconds = 0.0

    def look(self, now: float) -> None:
        """Count on to `now` [s, monotonic]."""
        self.seconds += min(max(0.0, now - self._looked), self._longest_look)
        self._looked = now
