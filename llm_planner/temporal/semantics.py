"""What a formula means on a finite trace: LTLf by its definition (De Giacomo and Vardi, IJCAI 2013).

Slow and plain on purpose: automata and monitors are tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.formula import Formula

_HOLDS_AT_THE_END = ("W", "R")  # of the operators that wait for something


def holds(formula: Formula, trace: Sequence[Letter]) -> bool:
    """Whether the trace, read from its first letter, satisfies it; raises InputError for none, or where time counts."""
    if formula.timed:
        raise InputError(f"{formula} counts seconds, and a trace has no times; use holds_in_time")
    return _Reading(trace, list(range(len(trace))), list(range(1, len(trace) + 1))).value(formula, 0)


def holds_in_time(formula: Formula, letters: Sequence[Letter], times: Sequence[float]) -> bool:
    """The same over all updates of a run: `letters` may repeat, `times` [s] of them do not fall.

    Windows speak of the updates within them, X and N of the next update with another letter. Raises InputError.
    """
    if len(times) != len(letters) or any(b < a for a, b in pairwise(times)):
        raise InputError(f"{len(letters)} letters need as many times that do not fall; got {list(times)}")
    changes = [k for k in range(1, len(letters)) if letters[k] != letters[k - 1]]
    following = [next((k for k in changes if k > i), len(letters)) for i in range(len(letters))]
    return _Reading(letters, times, following).value(formula, 0)


class _Reading:
    """One trace, the time of each letter [s], and where X leads from each."""

    def __init__(self, trace: Sequence[Letter], times: Sequence[float], following: Sequence[int]) -> None:
        if not trace:
            raise InputError("a trace has at least one letter; the empty trace satisfies nothing and violates nothing")
        self._trace, self._times, self._following = trace, times, following
        self._values: dict[tuple[Formula, int], bool] = {}

    def value(self, f: Formula, i: int) -> bool:
        key = (f, i)
        if key not in self._values:
            self._values[key] = self._evaluate(f, i)
        return self._values[key]

    def _evaluate(self, f: Formula, i: int) -> bool:
        match f.operator:
            case "":
                return f.name in self._trace[i]
            case "true" | "false":
                return f.operator == "true"
            case "!":
                return not self.value(f.operands[0], i)
            case "&":
                return all(self.value(g, i) for g in f.operands)
            case "|":
                return any(self.value(g, i) for g in f.operands)
            case "->":
                return not self.value(f.operands[0], i) or self.value(f.operands[1], i)
            case "<->":
                return self.value(f.operands[0], i) == self.value(f.operands[1], i)
            case "X" | "N":
                j = self._following[i]
                return self.value(f.operands[0], j) if j < len(self._trace) else f.operator == "N"
            case "F":
                return any(self.value(f.operands[0], j) for j in self._window(f, i))
            case "G":
                return all(self.value(f.operands[0], j) for j in self._window(f, i))
            case "U" | "W":
                return self._until(f, i)
            case _:
                return self._release(f, i)

    def _window(self, f: Formula, i: int) -> list[int]:
        later = range(i, len(self._trace))
        if f.window is None:
            return list(later)
        first, last = (self._times[i] + bound for bound in f.window)
        return [j for j in later if first <= self._times[j] <= last]

    def _until(self, f: Formula, i: int) -> bool:
        held, awaited = f.operands
        window = set(self._window(f, i))
        for j in range(i, len(self._trace)):
            if j in window and self.value(awaited, j):
                return True
            if not self.value(held, j):
                return False
        return f.operator in _HOLDS_AT_THE_END

    def _release(self, f: Formula, i: int) -> bool:
        awaited, held = f.operands
        for j in range(i, len(self._trace)):
            if not self.value(held, j):
                return False
            if self.value(awaited, j):
                return True
        return f.operator in _HOLDS_AT_THE_END
