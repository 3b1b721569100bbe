"""How far a chunk is from breaking a formula of temporal logic, and what change of it gains most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.bounds import Bound, Margins
from llm_planner.skills.policies.chunk_path import ChunkPath, Points
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.robustness import robustness

ALIKE = 0.005  # [m]: points so much less critical than the most critical one are moved with it


class ChunkRobustness(Protocol):
    """What guidance needs to know of a bound."""

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """Of `chunks` (K, horizon, action_dim) in their own units: (K,), positive where the bound is kept."""
        ...

    def ascent(self, chunks: Array, conditioning: Conditioning) -> Array:
        """The changes of the chunks, of the same shape, that raise each value by 1, to first order."""
        ...


@dataclass(frozen=True)
class _Critical:
    """The proposition that decides, 1 or -1 if its opposite does, and how far the value is from each point's (P,)."""

    name: str
    sign: float
    apart: Margins


class TemporalRobustness:
    """The robustness of `formula` over the points of a chunk's path, from now; its propositions are `bounds` by name.

    A chunk is judged alone: what was done before it, and what follows, is not.
    """

    def __init__(self, formula: Formula, bounds: Mapping[str, Bound], path: ChunkPath, period: float) -> None:
        """`period` [s] is that of the actions. Raises InputError for no propositions, and for one without a bound."""
        if not formula.propositions:
            raise InputError(f"{formula} speaks of nothing that a path could keep or break; name a bound in it")
        missing = sorted(set(formula.propositions) - set(bounds))
        if missing:
            raise InputError(f"{formula} speaks of {missing[0]!r}; there are bounds of: {', '.join(sorted(bounds))}")
        self._formula, self._path, self._times = formula, path, path.steps * period
        self._bounds = {name: bounds[name] for name in formula.propositions}

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkRobustness`."""
        margins = self._margins(self._path.points(chunks, conditioning))
        return np.array([self._value(margins, row) for row in range(len(chunks))], np.float32)

    def ascent(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkRobustness`."""
        points = self._path.points(chunks, conditioning)
        margins = self._margins(points)
        critical = [self._critical(margins, row) for row in range(len(chunks))]
        slopes = {name: self._bounds[name].outward(points) for name in {one.name for one in critical}}
        return np.stack(
            [self._change(one, slopes[one.name][row], chunks[row].shape) for row, one in enumerate(critical)]
        ).astype(np.float32)

    def _margins(self, points: Points) -> dict[str, Margins]:
        return {name: bound.margins(points) for name, bound in self._bounds.items()}

    def _value(self, margins: Mapping[str, Margins], row: int) -> float:
        return float(robustness(self._formula, {name: rows[row] for name, rows in margins.items()}, self._times)[0])

    def _critical(self, margins: Mapping[str, Margins], row: int) -> _Critical:
        """The robustness of a formula is the margin of one proposition at one point, or its opposite: which one."""
        value = self._value(margins, row)
        signed = ((name, sign, sign * rows[row]) for name, rows in margins.items() for sign in (1.0, -1.0))
        return min(
            (_Critical(name, sign, abs(margin - value)) for name, sign, margin in signed),
            key=lambda one: float(one.apart.min()),
        )

    def _change(self, critical: _Critical, slopes: Points, shape: tuple[int, ...]) -> Points:
        apart, forces = critical.apart, critical.sign * slopes
        if not np.isfinite(apart).any():
            return np.zeros(shape)
        one = (np.arange(len(apart)) == apart.argmin())[:, None]
        alone = self._path.pulled_back(one * forces, shape)
        shared = self._path.pulled_back(np.exp(-apart / ALIKE)[:, None] * forces, shape)
        return _gaining_one(alone, shared)


def _gaining_one(alone: Points, shared: Points) -> Points:
    """So much of `shared` that the critical point, which goes `alone`, gains 1; `alone` where others go against it."""
    own = float((alone * alone).sum())
    if own == 0:
        return alone
    gain = float((alone * shared).sum())
    change: Points = shared / gain if gain > own / 2 else alone / own
    return change
