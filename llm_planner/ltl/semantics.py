"""What a formula means on a finite trace: LTLf by its definition (De Giacomo and Vardi, IJCAI 2013).

Slow and plain on purpose: automata and monitors are tested against it.

How far sampled signals are from satisfying or violating a formula (Donzé and Maler 2010, space robustness).

A positive value satisfies, a negative one violates, and signals that differ by less than it give the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Letter
from llm_planner.ltl.formula import Formula

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


Signal = NDArray[np.float64]  # (n,) one value for each sample


def robustness(formula: Formula, margins: Mapping[str, ArrayLike], times: ArrayLike) -> Signal:
    """The robustness from each sample on, (n,); that of the whole run is the first.

    `margins` gives each proposition (n,) how far it is from changing, positive where it holds, in its own unit; `times`
    (n,) [s] rise. A window in which no sample falls gives minus infinity for F and U, infinity for G. Raises InputError
    for missing or unequal arrays, and for X and N, which count changes of letters and mean nothing for signals.
    """
    clock = np.asarray(times, dtype=float)
    if clock.ndim != 1 or not len(clock) or np.any(np.diff(clock) <= 0):
        raise InputError(f"times must be one rising row of seconds, at least one; they have the shape {clock.shape}")
    signals = {name: _signal(name, margins, len(clock)) for name in formula.propositions}
    return _Evaluation(signals, clock).of(formula)


def _signal(name: str, margins: Mapping[str, ArrayLike], count: int) -> Signal:
    if name not in margins:
        raise InputError(
            f"there is no margin of {name!r}; there are: {', '.join(sorted(margins)) or 'none'}; add its row"
        )
    signal = np.asarray(margins[name], dtype=float)
    if signal.shape != (count,) or np.any(np.isnan(signal)):
        raise InputError(
            f"the margin of {name!r} must be {count} numbers, one for each time; its shape is {signal.shape}"
        )
    return signal


class _Evaluation:
    """Each part of a formula is evaluated once, at all samples together."""

    def __init__(self, signals: Mapping[str, Signal], times: Signal) -> None:
        self._signals, self._times = signals, times
        self._known: dict[Formula, Signal] = {}

    def of(self, f: Formula) -> Signal:
        if f not in self._known:
            self._known[f] = self._evaluate(f)
        return self._known[f]

    def _evaluate(self, f: Formula) -> Signal:
        match f.operator:
            case "":
                return self._signals[f.name]
            case "true" | "false":
                return np.full(len(self._times), np.inf if f.operator == "true" else -np.inf)
            case "X" | "N":
                raise InputError(f"{f} counts changes of letters, and signals have none; use F or G with a window")
        parts = [self.of(g) for g in f.operands]
        match f.operator:
            case "!":
                return -parts[0]
            case "&":
                return np.asarray(np.minimum.reduce(parts))
            case "|":
                return np.asarray(np.maximum.reduce(parts))
            case "->":
                return np.maximum(-parts[0], parts[1])
            case "<->":
                return np.maximum(np.minimum(*parts), np.minimum(-parts[0], -parts[1]))
            case "F":
                return self._largest(f, parts[0])
            case "G":
                return -self._largest(f, -parts[0])
            case "U" | "W":
                return self._until(f, *parts)
            case _:
                return self._release(f, *parts)

    def _bounds(self, f: Formula) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each sample the first that falls into its window, and the first after it."""
        assert f.window is not None
        first = np.searchsorted(self._times, self._times + f.window[0], side="left")
        return first, np.searchsorted(self._times, self._times + f.window[1], side="right")

    def _largest(self, f: Formula, signal: Signal) -> Signal:
        if f.window is None:
            return np.maximum.accumulate(signal[::-1])[::-1]
        return _range_maxima(signal, *self._bounds(f))

    def _until(self, f: Formula, held: Signal, awaited: Signal) -> Signal:
        if f.window is not None:
            return self._windowed_until(f, held, awaited)
        result, after = np.empty_like(held), -np.inf if f.operator == "U" else np.inf
        for i in range(len(held) - 1, -1, -1):
            after = result[i] = max(awaited[i], min(held[i], after))
        return result

    def _release(self, f: Formula, awaited: Signal, held: Signal) -> Signal:
        result, after = np.empty_like(held), -np.inf if f.operator == "M" else np.inf
        for i in range(len(held) - 1, -1, -1):
            after = result[i] = min(held[i], max(awaited[i], after))
        return result

    def _windowed_until(self, f: Formula, held: Signal, awaited: Signal) -> Signal:
        result = np.full_like(held, -np.inf)
        for i, (first, last) in enumerate(zip(*self._bounds(f), strict=True)):
            if first < last:
                until_then = np.minimum.accumulate(np.concatenate([[np.inf], held[i : last - 1]]))
                result[i] = np.max(np.minimum(awaited[first:last], until_then[first - i :]))
        return result


def _range_maxima(signal: Signal, first: NDArray[np.intp], last: NDArray[np.intp]) -> Signal:
    """The largest of `signal[first[i]:last[i]]` for each i, minus infinity where that is empty.

    A table of maxima over 1, 2, 4... samples answers any range by two that overlap; the table is made only as deep as
    the widest range, so the work is n times the logarithm of a window's length, all of it vectorised.
    """
    result = np.full(len(signal), -np.inf)
    width = last - first
    level, step = signal, 1
    while True:
        now = (width >= step) & (width < 2 * step)
        result[now] = np.maximum(level[first[now]], level[last[now] - step])
        if not np.any(width >= 2 * step):
            return result
        level = np.maximum(level[: len(level) - step], level[step:])
        step *= 2
