"""Reference semantics of formulas on finite traces, by definition (De Giacomo and Vardi, IJCAI 2013).

Slow and simple on purpose: automata, monitors and plans are judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Letter
from llm_planner.ltl.formula import Formula

_HOLDS_AT_THE_END = ("W", "R")  # among the until and release operators


def holds(formula: Formula, trace: Sequence[Letter]) -> bool:
    """Return whether the trace satisfies the formula. Raises InputError for an empty trace or a timed formula."""
    if formula.timed:
        raise InputError(f"{formula} counts seconds, and a trace has no times; use holds_in_time")
    return _Reading(trace, list(range(len(trace))), list(range(1, len(trace) + 1))).value(formula, 0)


def holds_in_time(formula: Formula, letters: Sequence[Letter], times: Sequence[float]) -> bool:
    """Return whether timed updates satisfy the formula.

    Windows refer to the updates within them, X and N to the next update with another letter.

    Args:
        formula: Formula, timed or not.
        letters: Letter of each update; may repeat.
        times: Time of each update [s], not decreasing.

    Raises:
        InputError: There are no updates, or `times` has another length or decreases.
    """
    if len(times) != len(letters) or any(b < a for a, b in pairwise(times)):
        raise InputError(f"{len(letters)} letters need as many times that do not fall; got {list(times)}")
    changes = [k for k in range(1, len(letters)) if letters[k] != letters[k - 1]]
    following = [next((k for k in changes if k > i), len(letters)) for i in range(len(letters))]
    return _Reading(letters, times, following).value(formula, 0)


class _Reading:
    """Evaluation on one trace, with the time of each letter [s] and the index that X leads to."""

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
