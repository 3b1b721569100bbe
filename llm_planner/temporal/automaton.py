"""The smallest deterministic automaton of a formula over the letters that can occur.

Its letters are never compared as text, nor listed one by one: from each state a tree asks one proposition after another
(as in MONA; Henriksen et al. 1995) and leaves out what cannot occur.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import Alphabet, Letter
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.progression import Progression

MAX_STATES = 5000


class Branch(NamedTuple):
    """Asks whether `proposition` holds; propositions come in alphabetical order."""

    proposition: str
    low: Branch | int  # where it does not: another question, or the next state
    high: Branch | int  # where it does


Transition = Branch | int


@dataclass(frozen=True)
class Automaton:
    """States are the numbers from 0; `transitions[s]` leads from state s. Make one with `automaton`.

    `accepting`: the trace read so far satisfies the formula. `live`: some continuation, or none, still does; the prefix
    is safe. `won`: every continuation does. All over letters that can occur. A trace has at least one letter, so what
    `accepting` says of `initial` counts only where a run comes back to it.
    """

    formula: Formula
    alphabet: Alphabet  # of the formula's own propositions
    transitions: tuple[Transition, ...]
    accepting: frozenset[int]
    live: frozenset[int]
    won: frozenset[int]
    initial: int = 0

    def step(self, state: int, letter: Letter) -> int:
        """The state after `letter`, whose other propositions do not matter; raises InputError for an impossible one."""
        self.alphabet.check(letter)
        after = self.transitions[state]
        while isinstance(after, Branch):
            after = after.high if after.proposition in letter else after.low
        return after

    def run(self, letters: Iterable[Letter]) -> int:
        """The state after all letters."""
        state = self.initial
        for letter in letters:
            state = self.step(state, letter)
        return state

    @cached_property
    def successors(self) -> tuple[frozenset[int], ...]:
        """The states that one letter leads to, for each state."""
        return tuple(frozenset(leaves(branch)) for branch in self.transitions)

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """How many letters each state is away from accepting; infinite where it cannot."""
        found = [0.0 if state in self.accepting else inf for state in range(len(self.transitions))]
        changed = True
        while changed:
            nearest = [min(found[s], 1 + min(found[t] for t in after)) for s, after in enumerate(self.successors)]
            changed, found = nearest != found, nearest
        return tuple(found)


class Explored(NamedTuple):
    """States numbered from 0 in the order in which they are met, and the progression's own number of each."""

    transitions: list[Transition]
    accepting: frozenset[int]
    states: list[int]


def automaton(formula: Formula, alphabet: Alphabet) -> Automaton:
    """Raises InputError where windows count seconds, the alphabet lacks a proposition, or there are too many states."""
    if formula.timed:
        raise InputError(f"{formula} counts seconds: watch it with a Monitor, or plan with its untimed demand")
    own = alphabet.restricted(formula.propositions)
    progression = Progression(formula)
    transitions, accepting, _ = explore(progression, own, progression.initial)
    successors = [frozenset(leaves(branch)) for branch in transitions]
    accepting = settle_start(accepting, successors)
    transitions, accepting = _minimal(transitions, accepting)
    successors = [frozenset(leaves(branch)) for branch in transitions]
    states = frozenset(range(len(transitions)))
    live = reaching(accepting, successors)
    won = states - reaching(states - accepting, successors)
    return Automaton(formula, own, tuple(transitions), accepting, live, won)


def leaves(branch: Transition) -> set[int]:
    """The states in which a tree ends."""
    return leaves(branch.low) | leaves(branch.high) if isinstance(branch, Branch) else {branch}


def reaching(targets: frozenset[int], successors: list[frozenset[int]]) -> frozenset[int]:
    """The states from which some number of letters, or none, leads to a target."""
    predecessors: list[list[int]] = [[] for _ in successors]
    for state, following in enumerate(successors):
        for after in following:
            predecessors[after].append(state)
    found, waiting = set(targets), list(targets)
    while waiting:
        new = [state for state in predecessors[waiting.pop()] if state not in found]
        found.update(new)
        waiting.extend(new)
    return frozenset(found)


def explore(progression: Progression, alphabet: Alphabet, start: int) -> Explored:
    """What letters that can occur lead to from one state of a progression; raises InputError for too much."""
    numbers = {start: 0}
    reached, transitions = [start], list[Transition]()
    while len(transitions) < len(reached):
        tree = _Tree(progression, alphabet, numbers, reached)
        transitions.append(tree.of(progression.successors(reached[len(transitions)]), frozenset()))
        if len(reached) > MAX_STATES:
            raise InputError(
                f"the automaton has more than {MAX_STATES} states; give the parts of the formula as several constraints"
            )
    accepting = frozenset(number for state, number in numbers.items() if progression.accepts(state))
    return Explored(transitions, accepting, reached)


class _Tree:
    """Copies a diagram of successors without what cannot occur, and numbers the states in which it ends."""

    def __init__(self, progression: Progression, alphabet: Alphabet, numbers: dict[int, int], reached: list[int]):
        self._progression, self._rivals = progression, alphabet.rivals
        self._numbers, self._reached = numbers, reached
        self._memory: dict[tuple[int, Letter], Transition] = {}

    def of(self, node: int, excluded: Letter) -> Transition:
        if self._progression.is_state(node):
            return self._number(node)
        key = (node, excluded)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = self._copy(node, excluded)
        return found

    def _copy(self, node: int, excluded: Letter) -> Transition:
        diagrams = self._progression.diagrams
        name = self._progression.names[diagrams.variables[node]]
        low = self.of(diagrams.lows[node], excluded)
        if name in excluded:
            return low
        high = self.of(diagrams.highs[node], excluded | self._rivals[name])
        return low if low == high else Branch(name, low, high)

    def _number(self, state: int) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self._reached)
            self._reached.append(state)
        return self._numbers[state]


def settle_start(accepting: frozenset[int], successors: list[frozenset[int]]) -> frozenset[int]:
    """A start to which no run comes back is free to accept: not where nothing can, and where everything must."""
    after, states = successors[0], frozenset(range(len(successors)))
    if after & reaching(frozenset({0}), successors):
        return accepting
    if not after & reaching(accepting, successors):
        return accepting - {0}
    return accepting if after & reaching(states - accepting, successors) else accepting | {0}


def _minimal(transitions: list[Transition], accepting: frozenset[int]) -> tuple[list[Transition], frozenset[int]]:
    """Equivalent states as one (Moore 1956), numbered in the order in which they are first met."""
    classes = [int(state in accepting) for state in range(len(transitions))]
    count = 0
    while count < len(set(classes)):
        count = len(set(classes))
        known: dict[tuple[int, Transition], int] = {}
        signatures = [(classes[s], renamed(branch, classes)) for s, branch in enumerate(transitions)]
        classes = [known.setdefault(signature, len(known)) for signature in signatures]
    first = {number: state for state, number in reversed(list(enumerate(classes)))}
    merged = [renamed(transitions[first[number]], classes) for number in range(count)]
    return merged, frozenset(classes[state] for state in accepting)


def renamed(branch: Transition, names: list[int]) -> Transition:
    """The tree with other numbers in its leaves, and no question whose answer no longer matters."""
    if not isinstance(branch, Branch):
        return names[branch]
    low, high = renamed(branch.low, names), renamed(branch.high, names)
    return low if low == high else Branch(branch.proposition, low, high)
