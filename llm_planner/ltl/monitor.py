"""Watching one formula while a run goes on (runtime verification; Bauer, Leucker and Schallhart 2011).

Windows in seconds: progression with the clock, and what a formula demands when the clock is left out.

Time is that of the updates (metric temporal logic, pointwise; Koymans 1990): `F[2,5] a` asks for an update two to five
seconds from now that shows a. X and N speak of the next update with another letter, however long that takes.
"""

from __future__ import annotations

from copy import copy
from enum import Enum
from math import inf
from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.ltl import formula as build
from llm_planner.ltl.alphabet import Alphabet, Graph, Letter
from llm_planner.ltl.automaton import explore, settle_start
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.progression import FALSE, MAX_OBLIGATIONS, TRUE, Diagrams, Effort, Obligation, Progression


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


class Verdict(Enum):
    """What is known of a run that may go on."""

    SATISFIED = "satisfied"  # whatever can still come
    VIOLATED = "violated"  # whatever comes, even what cannot occur
    DOOMED = "doomed"  # nothing that can occur satisfies it any more
    PENDING = "pending"  # both are possible

    @property
    def lost(self) -> bool:
        return self in (Verdict.VIOLATED, Verdict.DOOMED)


class Monitor:
    """Follows a run; `alphabet` says which letters can occur, all where it is left out.

    Updates that repeat the letter before are no step for X and N; windows in seconds count them. Raises InputError
    where the formula is too large to be watched.
    """

    def __init__(self, formula: Formula, alphabet: Alphabet | None = None) -> None:
        self.formula = formula
        own = (alphabet or Alphabet(formula.propositions)).restricted(formula.propositions)
        self._effort = Effort()
        self._outlook = _Outlook(Progression(untimed(formula), self._effort), own)
        self._clock = TimedProgression(formula, self._effort) if formula.timed else None
        self._state = self._outlook.progression.initial
        self._timed_state = self._clock.start if self._clock else TimedState(TRUE)
        self._letter: Letter | None = None
        self._time = float("-inf")
        self.verdict = self._judge(self._state, self._timed_state)

    def __copy__(self) -> Monitor:
        """A second monitor at the same point, which goes its own way; cheap, for looking ahead."""
        twin = object.__new__(Monitor)
        twin.__dict__.update(self.__dict__, _clock=copy(self._clock))
        return twin

    @property
    def accepts(self) -> bool:
        """Whether the run satisfies the formula if it ends now; false before the first update."""
        if self._letter is None:
            return False
        return self._clock.ends(self._timed_state) if self._clock else self._outlook.progression.accepts(self._state)

    @property
    def point(self) -> tuple[int, Letter | None]:
        """Where it is: two copies of a monitor without windows in seconds that are at the same point go on alike."""
        return self._state, self._letter

    def observe(self, letter: Letter, time: float) -> Verdict:
        """The verdict after an update at `time` [s].

        Raises InputError when time runs backwards, or where one update takes too much to work out.
        """
        if time < self._time:
            raise InputError(f"an update at {time:g} s came after one at {self._time:g} s; give updates in order")
        self._time = time
        if letter == self._letter and self._clock is None:
            return self.verdict
        self._effort.renew()
        self._state, self._timed_state = self._after(letter, time)
        self._letter = letter
        if self._clock and self._clock.crowded:
            self._timed_state = self._clock.compacted(self._timed_state)
        self.verdict = self._judge(self._state, self._timed_state)
        return self.verdict

    def can_occur(self, letter: Letter) -> bool:
        """Whether a scene may show this letter."""
        return self._outlook.alphabet.has(letter)

    def doomed_by(self, letter: Letter, time: float | None = None) -> bool:
        """Whether an update with this letter, at `time` [s] or now, would lose it; nothing is changed."""
        self._effort.renew()
        return self._judge(*self._after(letter, self._time if time is None else time)).lost

    def _after(self, letter: Letter, time: float) -> tuple[int, TimedState]:
        changed = letter != self._letter
        state = self._outlook.after(self._state, letter) if changed else self._state
        if self._clock is None:
            return state, self._timed_state
        return state, self._clock.advance(self._timed_state, letter, time, changed)

    def _judge(self, state: int, timed_state: TimedState) -> Verdict:
        verdict = self._outlook.verdict(state)
        if self._clock is None or verdict.lost:
            return verdict
        return Verdict.VIOLATED if timed_state.lost else Verdict.SATISFIED if timed_state.won else Verdict.PENDING


class _Outlook:
    """What can become of each state of a progression; worked out before the run, or when nobody expected it."""

    def __init__(self, progression: Progression, alphabet: Alphabet) -> None:
        self.progression = progression
        self.alphabet = alphabet
        self._verdicts: dict[int, Verdict] = {}
        self._examined: set[int] = set()
        self.verdict(progression.initial)

    def after(self, state: int, letter: Letter) -> int:
        """The state after any letter, whether it can occur or not."""
        progression = self.progression
        diagrams, names = progression.diagrams, progression.names
        node = progression.successors(state)
        while diagrams.variables[node] < len(names):
            node = (diagrams.highs if names[diagrams.variables[node]] in letter else diagrams.lows)[node]
        return node

    def verdict(self, state: int) -> Verdict:
        if state not in self._verdicts:
            self._explore(state)
        if self._verdicts[state] is Verdict.DOOMED and state not in self._examined:
            self._examined.add(state)
            self._verdicts[state] = self._examine(state)
        return self._verdicts[state]

    def _explore(self, start: int) -> None:
        transitions, accepting, states = explore(self.progression, self.alphabet, start)
        graph = Graph(transitions)
        if start == self.progression.initial:
            accepting = settle_start(accepting, graph)
        live, open_ = graph.reaching(accepting), graph.reaching(frozenset(range(len(states))) - accepting)
        for number, state in enumerate(states):
            found = Verdict.PENDING if number in open_ else Verdict.SATISFIED
            self._verdicts[state] = found if number in live else Verdict.DOOMED

    def _examine(self, state: int) -> Verdict:
        """Whether letters that cannot occur would still save it; where that is too much to work out, it is doomed."""
        everything = Alphabet(self.progression.names)
        try:
            transitions, accepting, _ = explore(self.progression, everything, state)
        except InputError:
            return Verdict.DOOMED
        graph = Graph(transitions)
        if state == self.progression.initial:
            accepting = settle_start(accepting, graph)
        return Verdict.DOOMED if 0 in graph.reaching(accepting) else Verdict.VIOLATED
