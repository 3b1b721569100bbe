"""Runtime verification of one formula (Bauer, Leucker and Schallhart 2011), with windows in seconds.

The clock is that of the updates (metric temporal logic with pointwise semantics; Koymans 1990): `F[2,5] a` requires an
update two to five seconds from now that shows a. X and N refer to the next update with another letter, however long
that takes. Timed formulas are progressed with the clock, and `untimed` gives what they demand without it.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """State of a timed progression: a diagram of obligations, and obligations with windows that open later, by time."""

    node: int
    closed: tuple[Obligation, ...] = ()

    @property
    def lost(self) -> bool:
        return self.node == FALSE

    @property
    def won(self) -> bool:
        return self.node == TRUE and not self.closed


class TimedProgression(Progression):
    """Progression over timed updates, in which obligations have windows in clock time."""

    def __init__(self, formula: Formula, effort: Effort) -> None:
        self._letter: Letter = frozenset()
        self._time = 0.0
        self._changed = True
        super().__init__(formula, effort)

    @property
    def start(self) -> TimedState:
        return TimedState(self.initial)

    def advance(self, state: TimedState, letter: Letter, time: float, changed: bool) -> TimedState:
        """Return the state after an update at `time` [s]; `changed` says that its letter differs from the last one."""
        self._letter, self._time, self._changed = letter, time, changed
        self._now.clear()
        self._next = {FALSE: FALSE, TRUE: TRUE}
        opening = [o for o in state.closed if o.window is None or o.window[0] <= time]
        node = self._join(True, [self.successors(state.node), *(self._windowed(o) for o in opening)])
        return self._sorted_out(node, state.closed[len(opening) :] if opening else state.closed)

    def ends(self, state: TimedState) -> bool:
        """Return whether the formula is satisfied if the run ends here."""
        return self.accepts(state.node) and all(obligation.met_at_the_end for obligation in state.closed)

    def compacted(self, state: TimedState) -> TimedState:
        """Rebuild the tables with this state only, which drops obligations that have expired."""
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
        """Whether the tables need compaction."""
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
        """Expand a timed operator at this update: before, within or after its window."""
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
        """Set windows that open later aside, and keep only the strictest of the open ones of the same formula."""
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
        return TimedState(node, closed if len(aside) == len(closed) else tuple(sorted(aside, key=_opening)))


def _harder(a: Obligation, b: Obligation) -> Obligation:
    """Return the stricter of two obligations that differ only in when their windows end."""
    if a.window is None or b.window is None or (a.window[1] >= b.window[1]) == a.met_at_the_end:
        return a
    return b


def _opening(obligation: Obligation) -> float:
    return obligation.window[0] if obligation.window else -inf


def satisfied(formula: Formula, updates: Iterable[tuple[float, Letter]]) -> bool:
    """Return whether a run with these updates, at times that do not decrease [s], satisfies the formula."""
    progression, before = TimedProgression(formula, Effort()), None
    state = progression.start
    for time, letter in updates:
        progression.diagrams.effort.renew()
        state = progression.advance(state, letter, time, letter != before)
        if progression.crowded:
            state = progression.compacted(state)
        before = letter
    return progression.ends(state)


def untimed(formula: Formula, necessary: bool = True) -> Formula:
    """Return an untimed formula that every timed run satisfying `formula` satisfies.

    `F[0,10] a` becomes `F a`. `G[2,5] a` becomes true, since no update may fall into its window. With `necessary` False
    the result is the sufficient counterpart: every run that satisfies it satisfies `formula`.
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
    return operands[-1]  # the window contains the present moment


class Verdict(Enum):
    """What is known about a run that may continue."""

    SATISFIED = "satisfied"  # by every possible continuation
    VIOLATED = "violated"  # by every continuation, even with letters that cannot occur
    DOOMED = "doomed"  # by every continuation with letters that can occur
    PENDING = "pending"  # undecided

    @property
    def lost(self) -> bool:
        return self in (Verdict.VIOLATED, Verdict.DOOMED)


class Monitor:
    """Monitor of a formula during a run.

    `alphabet` defines which letters can occur; by default all can. Updates that repeat the previous letter are not a
    step for X and N, but windows in seconds count them. Raises InputError if the formula is too large to monitor.
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
        """Return an independent monitor at the same point; cheap enough for lookahead."""
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
        """Current state and letter. Copies of an untimed monitor at the same point behave alike."""
        return self._state, self._letter

    def observe(self, letter: Letter, time: float) -> Verdict:
        """Process an update at `time` [s] and return the verdict.

        Raises InputError if time decreases, or if the update exceeds the budget of steps.
        """
        if not isinstance(letter, frozenset | set):
            raise InputError(f"a letter is a set of propositions such as {{'open'}}, not {letter!r:.80}")
        if not time >= self._time:
            raise InputError(f"an update at {time:g} s came after one at {self._time:g} s; give updates in order")
        letter = frozenset(letter)  # the caller may change its own set later
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
        """Return whether a scene can show this letter."""
        return self._outlook.alphabet.has(letter)

    def doomed_by(self, letter: Letter, time: float | None = None) -> bool:
        """Return whether an update with this letter, at `time` [s] or now, would lose the run. Changes nothing."""
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
    """Verdict for each state of a progression, computed before the run or when an unexpected state occurs."""

    def __init__(self, progression: Progression, alphabet: Alphabet) -> None:
        self.progression = progression
        self.alphabet = alphabet
        self._verdicts: dict[int, Verdict] = {}
        self._examined: set[int] = set()
        self.verdict(progression.initial)

    def after(self, state: int, letter: Letter) -> int:
        """Return the state after any letter, possible or not."""
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

    def _graph(self, start: int, alphabet: Alphabet) -> tuple[Graph, frozenset[int], list[int]]:
        """Return the graph of the states that letters of the alphabet lead to, the accepting ones, and all."""
        transitions, accepting, states = explore(self.progression, alphabet, start)
        graph = Graph(transitions)
        return graph, settle_start(accepting, graph) if start == self.progression.initial else accepting, states

    def _explore(self, start: int) -> None:
        graph, accepting, states = self._graph(start, self.alphabet)
        live, open_ = graph.reaching(accepting), graph.reaching(frozenset(range(len(states))) - accepting)
        for number, state in enumerate(states):
            found = Verdict.PENDING if number in open_ else Verdict.SATISFIED
            self._verdicts[state] = found if number in live else Verdict.DOOMED

    def _examine(self, state: int) -> Verdict:
        """Distinguish DOOMED from VIOLATED by exploring impossible letters too; DOOMED if that exceeds the limits."""
        try:
            graph, accepting, _ = self._graph(state, Alphabet(self.progression.names))
        except InputError:
            return Verdict.DOOMED
        return Verdict.DOOMED if 0 in graph.reaching(accepting) else Verdict.VIOLATED
