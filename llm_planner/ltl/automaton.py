"""The smallest deterministic automaton of a formula over the letters that can occur.

Its letters are never compared as text, nor listed one by one: from each state a tree asks one proposition after another
(as in MONA; Henriksen et al. 1995) and leaves out what cannot occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet, Branch, Graph, Letter, Transition, branch, renamed
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.progression import Effort, Progression

MAX_STATES = 5000
START = 100  # steps, however small the formula


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
    def distances(self) -> tuple[float, ...]:
        """How many letters each state is away from accepting; infinite where it cannot."""
        return Graph(self.transitions).distances(self.accepting)


class Explored(NamedTuple):
    """States numbered from 0 in the order in which they are met, and the progression's own number of each."""

    transitions: list[Transition]
    accepting: frozenset[int]
    states: list[int]


def automaton(formula: Formula, alphabet: Alphabet, effort: Effort | None = None) -> Automaton:
    """Raises InputError where windows count seconds, the alphabet lacks a proposition, or it would be too large."""
    if formula.timed:
        raise InputError(f"{formula} counts seconds: watch it with a Monitor, or plan with its untimed demand")
    effort = effort or Effort()
    effort.spend(START + len(alphabet.propositions) // 4)
    own = alphabet.restricted(formula.propositions)
    progression = Progression(formula, effort)
    transitions, accepting, _ = explore(progression, own, progression.initial)
    graph, states = Graph(transitions), range(len(transitions))
    accepting = settle_start(accepting, graph)
    ways = [graph.distances(accepting), graph.distances(frozenset(states) - accepting)]
    classes = _merged(transitions, list(zip(*ways, strict=True)), graph.size, effort)
    to_accept, to_refuse = ways
    return Automaton(
        formula,
        own,
        _quotient(transitions, classes),
        accepting=frozenset(classes[state] for state in accepting),
        live=frozenset(classes[state] for state in states if to_accept[state] < inf),
        won=frozenset(classes[state] for state in states if to_refuse[state] == inf),
    )


def explore(progression: Progression, alphabet: Alphabet, start: int) -> Explored:
    """What letters that can occur lead to from one state of a progression; raises InputError for too much."""
    numbers = {start: 0}
    reached, transitions = [start], list[Transition]()
    tree = _Tree(progression, alphabet, numbers, reached)
    while len(transitions) < len(reached):
        transitions.append(tree.of(progression.successors(reached[len(transitions)]), frozenset()))
        if len(reached) > MAX_STATES:
            raise InputError(
                f"the automaton has more than {MAX_STATES} states; give the parts of the formula as several constraints"
            )
    accepting = frozenset(number for state, number in numbers.items() if progression.accepts(state))
    return Explored(transitions, accepting, reached)


class _Tree:
    """Copies diagrams of successors without what cannot occur, and numbers the states in which they end."""

    def __init__(self, progression: Progression, alphabet: Alphabet, numbers: dict[int, int], reached: list[int]):
        self._progression, self._memberships = progression, alphabet.memberships
        self._numbers, self._reached = numbers, reached
        self._memory: dict[tuple[int, frozenset[int]], Transition] = {}

    def of(self, node: int, taken: frozenset[int]) -> Transition:
        """`taken`: exclusive groups of which a proposition already holds."""
        if self._progression.is_state(node):
            return self._number(node)
        key = (node, taken)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = self._copy(node, taken)
        return found

    def _copy(self, node: int, taken: frozenset[int]) -> Transition:
        diagrams = self._progression.diagrams
        diagrams.effort.spend()
        name = self._progression.names[diagrams.variables[node]]
        groups = self._memberships[name]
        low = self.of(diagrams.lows[node], taken)
        return low if groups & taken else branch(name, low, self.of(diagrams.highs[node], taken | groups))

    def _number(self, state: int) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self._reached)
            self._reached.append(state)
        return self._numbers[state]


def settle_start(accepting: frozenset[int], graph: Graph) -> frozenset[int]:
    """A start to which no run comes back is free to accept: not where nothing can, and where everything must."""
    if graph.enters(0):
        return accepting
    if 0 not in graph.reaching(accepting - {0}):
        return accepting - {0}
    refusing = frozenset(range(len(graph.trees))) - accepting - {0}
    return accepting if 0 in graph.reaching(refusing) else accepting | {0}


def _merged(trees: Sequence[Transition], apart: Sequence[Hashable], size: int, effort: Effort) -> list[int]:
    """The class of each state: equivalent states have the same (Moore 1956), numbered as they are first met.

    What is not the same in `apart` is not equivalent: how far a state is from accepting, and from not accepting. With
    that to begin with, few rounds are left.
    """
    count, classes = 0, _numbered(apart)
    while count < len(set(classes)) < len(trees):
        effort.spend(size)
        count, done = len(set(classes)), dict[Transition, Transition](enumerate(classes))
        classes = _numbered([(classes[state], renamed(tree, done)) for state, tree in enumerate(trees)])
    return classes


def _quotient(trees: Sequence[Transition], classes: Sequence[int]) -> tuple[Transition, ...]:
    """One tree for each class."""
    if len(set(classes)) == len(trees):
        return tuple(trees)
    first = {number: state for state, number in reversed(list(enumerate(classes)))}
    done = dict[Transition, Transition](enumerate(classes))
    return tuple(renamed(trees[first[number]], done) for number in range(len(first)))


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Equal keys get the same number, from 0 in the order in which they come."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]
