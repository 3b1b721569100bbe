"""Minimal deterministic automaton of a formula over the letters that can occur.

Transitions are decision trees over propositions (as in MONA; Henriksen et al. 1995) that omit letters which cannot
occur. Letters are neither enumerated nor compared as text.
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
START = 100  # steps of effort that every automaton costs


@dataclass(frozen=True)
class Automaton:
    """Deterministic automaton whose states are numbered from 0. Create it with `automaton`.

    A trace has at least one letter, so whether `initial` is accepting matters only if a run returns to it.

    Attributes:
        formula: Formula that the automaton accepts.
        alphabet: Alphabet restricted to the formula's propositions.
        transitions: Decision tree for each state.
        accepting: States in which the trace so far satisfies the formula.
        live: States from which some continuation, possibly empty, satisfies the formula.
        won: States from which every continuation satisfies the formula.
        initial: Start state.
    """

    formula: Formula
    alphabet: Alphabet
    transitions: tuple[Transition, ...]
    accepting: frozenset[int]
    live: frozenset[int]
    won: frozenset[int]
    initial: int = 0

    def step(self, state: int, letter: Letter) -> int:
        """Return the state after `letter`; other propositions are ignored. Raises InputError if it cannot occur."""
        self.alphabet.check(letter)
        after = self.transitions[state]
        while isinstance(after, Branch):
            after = after.high if after.proposition in letter else after.low
        return after

    def run(self, letters: Iterable[Letter]) -> int:
        """Return the state after all letters."""
        state = self.initial
        for letter in letters:
            state = self.step(state, letter)
        return state

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """Number of letters from each state to an accepting one; infinite if none is reachable."""
        return Graph(self.transitions).distances(self.accepting)


class Explored(NamedTuple):
    """States numbered from 0 in order of discovery, with the progression's own number of each in `states`."""

    transitions: list[Transition]
    accepting: frozenset[int]
    states: list[int]


def automaton(formula: Formula, alphabet: Alphabet, effort: Effort | None = None) -> Automaton:
    """Build the minimal automaton of a formula.

    Args:
        formula: Formula without time windows.
        alphabet: Letters that can occur; must contain the formula's propositions.
        effort: Budget of work to spend from; by default a fresh one.

    Raises:
        InputError: The formula is timed, a proposition is missing in the alphabet, or the automaton would be too large.
    """
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
    """Explore a progression's states from `start` over letters that can occur. Raises InputError above the limits."""
    numbers = {start: 0}
    reached, transitions = [start], list[Transition]()
    diagrams, memberships = progression.diagrams, alphabet.memberships
    known: dict[tuple[int, frozenset[int]], Transition] = {}

    def tree(node: int, taken: frozenset[int]) -> Transition:
        """Convert a diagram of successors; `taken` are the exclusive groups that already have a true proposition."""
        if progression.is_state(node):
            if node not in numbers:
                numbers[node] = len(reached)
                reached.append(node)
            return numbers[node]
        if (node, taken) not in known:
            diagrams.effort.spend()
            name = progression.names[diagrams.variables[node]]
            groups, low = memberships[name], tree(diagrams.lows[node], taken)
            is_possible = not groups & taken
            known[node, taken] = branch(name, low, tree(diagrams.highs[node], taken | groups)) if is_possible else low
        return known[node, taken]

    while len(transitions) < len(reached):
        transitions.append(tree(progression.successors(reached[len(transitions)]), frozenset()))
        if len(reached) > MAX_STATES:
            raise InputError(
                f"the automaton has more than {MAX_STATES} states; give the parts of the formula as several constraints"
            )
    accepting = frozenset(number for state, number in numbers.items() if progression.accepts(state))
    return Explored(transitions, accepting, reached)


def settle_start(accepting: frozenset[int], graph: Graph) -> frozenset[int]:
    """Choose whether a start state that is never re-entered accepts.

    The choice is free since the empty trace does not count: it rejects if nothing else can be accepted, and accepts if
    nothing else can be rejected.
    """
    if graph.enters(0):
        return accepting
    if 0 not in graph.reaching(accepting - {0}):
        return accepting - {0}
    refusing = frozenset(range(len(graph.trees))) - accepting - {0}
    return accepting if 0 in graph.reaching(refusing) else accepting | {0}


def _merged(trees: Sequence[Transition], apart: Sequence[Hashable], size: int, effort: Effort) -> list[int]:
    """Return the equivalence class of each state (Moore 1956), numbered in order of first occurrence.

    States that differ in `apart` are not equivalent. Callers pass the distances to acceptance and rejection, so that
    few refinement rounds remain.
    """
    count, classes = 0, _numbered(apart)
    while count < len(set(classes)) < len(trees):
        effort.spend(size)
        count, done = len(set(classes)), dict[Transition, Transition](enumerate(classes))
        classes = _numbered([(classes[state], renamed(tree, done)) for state, tree in enumerate(trees)])
    return classes


def _quotient(trees: Sequence[Transition], classes: Sequence[int]) -> tuple[Transition, ...]:
    """Return one tree per class."""
    if len(set(classes)) == len(trees):
        return tuple(trees)
    first = {number: state for state, number in reversed(list(enumerate(classes)))}
    done = dict[Transition, Transition](enumerate(classes))
    return tuple(renamed(trees[first[number]], done) for number in range(len(first)))


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Number equal keys alike, from 0 in order of first occurrence."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]
