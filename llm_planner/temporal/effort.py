"""How much work one question about formulas may take: counted, not timed, so that every machine gives one answer."""

from __future__ import annotations

from llm_planner.errors import InputError

MAX_STEPS = 150_000  # of a few microseconds each: under half a second of one core


class Effort:
    """The steps that a question has left; everything that works on it spends from the same."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._all = self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Raises InputError where none are left."""
        self._left -= steps
        if self._left < 0:
            raise InputError(
                f"the formulas are too large to decide (more than {self._all} steps); give their parts as several "
                "formulas, ask about fewer at once, or say which propositions exclude each other"
            )

    def renew(self) -> None:
        """The next question begins."""
        self._left = self._all
