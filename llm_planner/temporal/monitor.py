"""Watching one formula while a run goes on (runtime verification; Bauer, Leucker and Schallhart 2011)."""

from __future__ import annotations

from copy import copy
from enum import Enum

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import Alphabet, Letter
from llm_planner.temporal.automaton import explore, settle_start
from llm_planner.temporal.branches import Graph
from llm_planner.temporal.diagrams import TRUE
from llm_planner.temporal.effort import Effort
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.progression import Progression
from llm_planner.temporal.timed import TimedProgression, TimedState, untimed


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
