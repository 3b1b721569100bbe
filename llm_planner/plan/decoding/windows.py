"""Windows in seconds, judged by what a plan should show at regular moments, and at those that no robot can miss: where
something changes, or a call ends."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise

from llm_planner.plan.decoding.scene_graph import Edge
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.semantics import holds_in_time

SAMPLING = 0.5  # [s] between the moments that are judged
Change = tuple[float, int]  # [s after the start], and the letter from then on


def windows_of(f: Formula) -> set[tuple[float, float]]:
    """The windows of time in it [s]."""
    own = {f.window} if f.window else set()
    return own.union(*(windows_of(g) for g in f.operands))


class Windows:
    """Those of `formulas`, false where there are none, for ways that begin with the letter `first`; letters are masks
    over `names`."""

    def __init__(self, formulas: Sequence[Formula], names: Sequence[str], first: int) -> None:
        self._timed = [formula for formula in formulas if formula.timed]
        self._names, self._first = tuple(names), first
        spoken = frozenset[str]().union(*(formula.propositions for formula in self._timed))
        self._seen = sum(1 << k for k, name in enumerate(names) if name in spoken)
        self._horizon = sum(max(last for _, last in windows_of(formula)) for formula in self._timed)

    def __bool__(self) -> bool:
        return bool(self._timed)

    def met(self, edges: Sequence[Edge]) -> bool:
        """Whether a plan that takes this way keeps them all, however often it is looked at."""
        changes = self._changes(edges)
        seldom = [*changes, (_end(edges), changes[-1][1])]
        return self._kept(seldom) and self._kept(_often(seldom))

    def _kept(self, seen: Sequence[Change]) -> bool:
        times, masks = zip(*seen, strict=True)
        letters = [frozenset(name for k, name in enumerate(self._names) if mask >> k & 1) for mask in masks]
        return all(holds_in_time(formula, letters, times) for formula in self._timed)

    def so_far(self, edges: Sequence[Edge]) -> Hashable:
        """What may still matter of a way, to the second: when it has changed what they speak of, and how late it is."""
        seen = [(int(time), mask & self._seen) for time, mask in self._changes(edges) if time <= self._horizon]
        kept = tuple(one for k, one in enumerate(seen) if k == 0 or one[1] != seen[k - 1][1])
        return kept, int(min(_end(edges), self._horizon))

    def _changes(self, edges: Sequence[Edge]) -> list[Change]:
        starts = accumulate((edge.seconds for edge in edges), initial=0.0)
        changes = [(0.0, self._first)]
        for began, edge in zip(starts, edges, strict=False):
            changes += [(began + time, mask) for time, mask in zip(edge.times, edge.letters, strict=True)]
        return changes


def _end(edges: Sequence[Edge]) -> float:
    return sum(edge.seconds for edge in edges)


def _often(changes: Sequence[Change]) -> list[Change]:
    """Between two changes the same letter at regular moments."""
    samples = []
    for (begin, mask), (until, _) in pairwise(changes):
        count = max(1, round((until - begin) / SAMPLING))
        samples += [(begin + (until - begin) * k / count, mask) for k in range(count)]
    return [*samples, changes[-1]]
