"""Quantitative semantics of formulas on sampled signals: space robustness (Donzé and Maler 2010).

A positive value satisfies the formula, a negative one violates it, and signals that differ by less give the same
answer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Formula

Signal = NDArray[np.float64]  # (n,) one value per sample


def robustness(formula: Formula, margins: Mapping[str, ArrayLike], times: ArrayLike) -> Signal:
    """Compute the robustness from each sample on.

    Args:
        formula: Formula without X and N, which count changes of letters and have no meaning for signals.
        margins: Margin of each proposition, (n,), positive where it holds, in its own unit.
        times: Sample times, (n,), strictly increasing [s].

    Returns:
        Robustness, (n,); the first value is that of the whole run. A window without samples gives minus infinity for F
        and U, and infinity for G.

    Raises:
        InputError: Arrays are missing or differ in length, or the formula has X or N.
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
    """Evaluation of each subformula once, at all samples together."""

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
            case "U" if f.window is not None:
                return self._windowed_until(f, *parts)
            case "U" | "W":
                return _until(parts[0], parts[1], is_strong=f.operator == "U")
            case _:  # f R g is !(!f U !g), f M g is !(!f W !g)
                return -_until(-parts[0], -parts[1], is_strong=f.operator == "R")

    def _bounds(self, f: Formula) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return, for each sample, the index of the first sample in its window and of the first after it."""
        assert f.window is not None
        first = np.searchsorted(self._times, self._times + f.window[0], side="left")
        return first, np.searchsorted(self._times, self._times + f.window[1], side="right")

    def _largest(self, f: Formula, signal: Signal) -> Signal:
        if f.window is None:
            return np.maximum.accumulate(signal[::-1])[::-1]
        return _range_maxima(signal, *self._bounds(f))

    def _windowed_until(self, f: Formula, held: Signal, awaited: Signal) -> Signal:
        result = np.full_like(held, -np.inf)
        for i, (first, last) in enumerate(zip(*self._bounds(f), strict=True)):
            if first < last:
                until_then = np.minimum.accumulate(np.concatenate([[np.inf], held[i : last - 1]]))
                result[i] = np.max(np.minimum(awaited[first:last], until_then[first - i :]))
        return result


def _until(held: Signal, awaited: Signal, is_strong: bool) -> Signal:
    result, after = np.empty_like(held), -np.inf if is_strong else np.inf
    for i in range(len(held) - 1, -1, -1):
        after = result[i] = max(awaited[i], min(held[i], after))
    return result


def _range_maxima(signal: Signal, first: NDArray[np.intp], last: NDArray[np.intp]) -> Signal:
    """Return the maximum of `signal[first[i]:last[i]]` for each i, minus infinity where it is empty.

    Uses a sparse table of maxima over 1, 2, 4... samples: two overlapping entries answer any range. The table is only
    as deep as the widest range, so the work is n log(window), all vectorised.
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
