"""Windows in seconds: progression with the clock, and what a formula demands when the clock is left out.

Time is that of the updates (metric temporal logic, pointwise; Koymans 1990): `F[2,5] a` asks for an update two to five
seconds from now that shows a. X and N speak of the next update with another letter, however long that takes.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from llm_planner.temporal import formula as build
from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.diagrams import FALSE, TRUE, Diagrams
from llm_planner.temporal.effort import Effort
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.progression import MAX_OBLIGATIONS, Obligation, Progression


class TimedState(NamedTuple):
    """A diagram of obligations, and windows yet to open that must be met as well, the first to open first."""

    node: int
    closed: tuple[Obligation, ...] = ()

    @property
    def lost(self) -> bool:
        return self.node == FALSE

    @property
    def won(self) -> bool:
        return self.node == TRUE and not self.closed


class TimedProgression(Progression):
    """Reads one update after another; the states are those of Progression, with windows at times of the clock."""

    def __init__(self, formula: Formula, effort: Effort) -> None:
        self._letter: Letter = frozenset()
        self._time = 0.0
        self._changed = True
        super().__init__(formula, effort)

    @property
    def start(self) -> TimedState:
        return TimedState(self.initial)

    def advance(self, state: TimedState, letter: Letter, time: float, changed: bool) -> TimedState:
        """The state after an update at `time` [s]; `changed`: its letter differs from the one before."""
        self._letter, self._time, self._changed = letter, time, changed
        self._now.clear()
        self._next = {FALSE: FALSE, TRUE: TRUE}
        opening = [o for o in state.closed if o.window is None or o.window[0] <= time]
        node = self._join(True, [self.successors(state.node), *(self._windowed(o) for o in opening)])
        return self._sorted_out(node, state.closed[len(opening) :] if opening else state.closed)

    def ends(self, state: TimedState) -> bool:
        """Whether the run may end here."""
        return self.accepts(state.node) and all(obligation.met_at_the_end for obligation in state.closed)

    def compacted(self, state: TimedState) -> TimedState:
        """The same state after everything else has been forgotten: obligations of the past pile up."""
        old, obligations = self.diagrams, self._obligations
        self.diagrams, self._obligations, self._numbers = Diagrams(old.effort), [], {}
        copies = {FALSE: FALSE, TRUE: TRUE}

        def copy(node: int) -> int:
            if node not in copies:
                owed = self._owe(obligations[old.variables[node] - len(self.names)])
                rest = self.diagrams.conj(owed, copy(old.highs[node]))
                copies[node] = self.diagrams.disj(copy(old.lows[node]), rest)
            return copies[node]

        return TimedState(copy(state.node), state.closed)

    @property
    def crowded(self) -> bool:
        """Whether it is time to compact."""
        return len(self._obligations) > MAX_OBLIGATIONS // 2

    def _literal(self, name: str, positive: bool) -> int:
        return TRUE if (name in self._letter) == positive else FALSE

    def _expand(self, f: Formula, positive: bool) -> int:
        if f.window is None:
            return super()._expand(f, positive)
        first, last = f.window
        return self._windowed(Obligation(f, positive, window=(self._time + first, self._time + last)))

    def _meet(self, obligation: Obligation) -> int:
        if obligation.window is not None:
            return self._windowed(obligation)
        if obligation.waiting and not self._changed:
            return self._owe(obligation)
        return super()._meet(obligation)

    def _windowed(self, obligation: Obligation) -> int:
        """An operator with a window, read at this update: before it opens, within it, or after it."""
        f, positive, _, window = obligation
        assert window is not None
        first, last = window
        if self._time > last:
            return TRUE if obligation.met_at_the_end else FALSE
        opened = self._time >= first
        waits = self._owe(obligation._replace(window=(-inf, last)) if opened else obligation)
        if f.operator == "U":
            waits = self._join(positive, [self._read(f.operands[0], positive), waits])
        if not opened:
            return waits
        return self._join((f.operator == "G") == positive, [self._read(f.operands[-1], positive), waits])

    def _sorted_out(self, node: int, closed: tuple[Obligation, ...]) -> TimedState:
        """Of what must all be met: windows yet to open set aside, and of open ones of the same formula the hardest."""
        diagrams, rest, links = self.diagrams, node, 0
        kept, aside = dict[Obligation, Obligation](), dict.fromkeys(closed)
        while rest > TRUE and diagrams.lows[rest] == FALSE:
            obligation = self._obligation(rest)
            rest, links = diagrams.highs[rest], links + 1
            if obligation.window is None or obligation.formula.operator == "U":
                kept[obligation] = obligation
            elif obligation.window[0] > self._time:
                aside[obligation] = None
            else:
                key = obligation._replace(window=None)
                kept[key] = _harder(kept.get(key, obligation), obligation)
        if links > len(kept):
            node = self._join(True, [rest, *(self._owe(obligation) for obligation in kept.values())])
        return TimedState(node, closed if len(aside) == len(closed) else tuple(sorted(aside, key=_first)))


def _harder(a: Obligation, b: Obligation) -> Obligation:
    if a.window is None or b.window is None:
        return a
    return max(a, b, key=_last) if a.met_at_the_end else min(a, b, key=_last)


def _first(obligation: Obligation) -> float:
    return obligation.window[0] if obligation.window else -inf


def _last(obligation: Obligation) -> float:
    return obligation.window[1] if obligation.window else inf


def untimed(formula: Formula, necessary: bool = True) -> Formula:
    """What it demands whatever the times: every timed run that satisfies `formula` satisfies this.

    `F[0,10] a` demands `F a`; `G[2,5] a` nothing, for no update may fall into its window. With `necessary` False the
    other side: every run that satisfies the result satisfies `formula`.
    """
    if not formula.timed:
        return formula
    if formula.operator == "!":
        return build.neg(untimed(formula.operands[0], not necessary))
    if formula.operator == "->":
        return build.implies(untimed(formula.operands[0], not necessary), untimed(formula.operands[1], necessary))
    if formula.operator == "<->":
        f, g = formula.operands
        return build.conj(*(untimed(build.implies(*pair), necessary) for pair in ((f, g), (g, f))))
    operands = [untimed(f, necessary) for f in formula.operands]
    if formula.window is None or necessary == (formula.operator != "G"):
        return build.CONSTRUCTORS[formula.operator](*operands)
    if formula.window[0] > 0:
        return build.TRUE if formula.operator == "G" else build.FALSE
    return operands[-1]  # the window holds the present moment
