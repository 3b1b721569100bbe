"""An automaton as a graph to draw, with one labelled edge per pair of states.

A label is a short condition for all letters along the edge: `kitchen & !lab`. Letters that cannot occur are
don't-cares, so "in the kitchen and not in the lab" becomes "in the kitchen". Conditions come from prime implicants
(Quine 1952, McCluskey 1956) and a greedy cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Branch, Letter, Transition
from llm_planner.ltl.automaton import Automaton

MAX_EXACT = 7  # propositions; beyond, the paths of the decision tree are not simplified
MAX_PATHS = 1000  # per edge, for readability
ALWAYS = "always"

Literal = tuple[str, bool]  # a proposition and whether it holds
Cube = frozenset[Literal]  # conjunction


def conditions(automaton: Automaton, state: int) -> dict[int, tuple[Cube, ...]]:
    """Return a condition (a disjunction of cubes) for each successor of `state`.

    Raises InputError for a condition of more than `MAX_PATHS` cubes.
    """
    paths = list(islice(_paths(automaton.transitions[state], frozenset()), MAX_PATHS + 1))
    if len(paths) > MAX_PATHS:
        raise InputError(f"an edge would need more than {MAX_PATHS} conditions; draw the formula in smaller parts")
    targets = dict.fromkeys(target for _, target in paths)
    names = sorted({name for cube, _ in paths for name, _ in cube})
    if len(names) > MAX_EXACT:
        return {target: tuple(cube for cube, other in paths if other == target) for target in targets}
    alphabet = automaton.alphabet.restricted(names)
    after = {letter: automaton.step(state, letter) for letter in alphabet.letters}
    impossible = set(_all_letters(names)) - after.keys()
    return {
        target: _fewest({letter for letter in after if after[letter] == target}, impossible, names)
        for target in targets
    }


def condition_text(cubes: Iterable[Cube]) -> str:
    """Write the cubes as text, the shortest first."""
    terms = sorted(
        (sorted(cube) for cube in cubes), key=lambda term: (len(term), [(not yes, name) for name, yes in term])
    )
    return " | ".join(_term(term) for term in terms)


def short_name(proposition: str) -> str:
    """Shorten a proposition by omitting the robot: `in(robot, lab)` becomes `in lab`."""
    predicate, _, rest = proposition.partition("(")
    arguments = rest.partition(")")[0]
    if not arguments.startswith("robot"):
        return proposition
    about = arguments.removeprefix("robot").removeprefix(",").strip()
    return f"{predicate} {about}{rest.partition(')')[2]}".replace("  ", " ").strip()


def _term(literals: list[Literal]) -> str:
    return " & ".join(("" if yes else "!") + short_name(name) for name, yes in literals) or ALWAYS


def _paths(branch: Transition, taken: Cube) -> Iterator[tuple[Cube, int]]:
    if isinstance(branch, Branch):
        yield from _paths(branch.low, taken | {(branch.proposition, False)})
        yield from _paths(branch.high, taken | {(branch.proposition, True)})
    else:
        yield taken, branch


def _all_letters(names: list[str]) -> Iterator[Letter]:
    return (frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size))


def _fewest(wanted: set[Letter], free: set[Letter], names: list[str]) -> tuple[Cube, ...]:
    """Return few, short cubes that cover all of `wanted` and otherwise only `free` letters."""
    primes = _primes({_cube(letter, names) for letter in wanted | free})
    left = {_cube(letter, names) for letter in wanted}
    chosen: list[Cube] = []
    while left:
        best = max(primes, key=lambda cube: (sum(cube <= letter for letter in left), -len(cube), _positive(cube)))
        chosen.append(best)
        left = {letter for letter in left if not best <= letter}
    return tuple(chosen)


def _primes(cubes: set[Cube]) -> list[Cube]:
    primes: list[Cube] = []
    while cubes:
        merged: set[Cube] = set()
        absorbed: set[Cube] = set()
        for cube in cubes:
            for name, yes in cube:
                rest = cube - {(name, yes)}
                if rest | {(name, not yes)} in cubes:
                    merged.add(rest)
                    absorbed.add(cube)
        primes.extend(sorted(cubes - absorbed, key=sorted))
        cubes = merged
    return primes


def _cube(letter: Letter, names: list[str]) -> Cube:
    return frozenset((name, name in letter) for name in names)


def _positive(cube: Cube) -> int:
    """Count the positive literals, which are more informative: `kitchen` says more than `!lab`."""
    return sum(yes for _, yes in cube)


MAX_STATES = 16  # for readability


@dataclass(frozen=True)
class Node:
    """State of the graph: `accepting` if the run may end here, `doomed` if it can no longer be accepted."""

    number: int
    accepting: bool
    doomed: bool


@dataclass(frozen=True)
class Edge:
    """All letters that lead from one state to another, with their condition as text."""

    source: int
    target: int
    text: str


@dataclass(frozen=True)
class Graph:
    """States in order of discovery, with state 0 as start, and edges."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Group live states into columns by the longest forward path to them."""
        ahead = self._ahead()
        depth = dict.fromkeys([0, *ahead], 0)
        for _ in depth:
            for state, targets in ahead.items():
                for target in targets:
                    depth[target] = max(depth.get(target, 0), depth[state] + 1)
        return tuple(
            tuple(state for state in depth if depth[state] == column) for column in range(max(depth.values()) + 1)
        )

    def _ahead(self) -> dict[int, list[int]]:
        """Return the edges between live states that do not close a cycle, in depth-first order."""
        found: dict[int, list[int]] = {}

        def visit(state: int, way: frozenset[int]) -> None:
            found[state] = []
            for target in self._targets(state):
                if target not in way:
                    found[state].append(target)
                    if target not in found:
                        visit(target, way | {target})

        visit(0, frozenset({0}))
        return found

    def _targets(self, state: int) -> list[int]:
        return [e.target for e in self.edges if e.source == state and not self.nodes[e.target].doomed]


def graph_of(automaton: Automaton) -> Graph:
    """Convert an automaton to a graph. Raises InputError if it has more than `MAX_STATES` states."""
    count = len(automaton.transitions)
    if count > MAX_STATES:
        raise InputError(
            f"the automaton has {count} states, and a picture shows at most {MAX_STATES}; "
            "give the parts of the sentence on their own"
        )
    states = range(count)
    nodes = tuple(Node(state, state in automaton.accepting, state not in automaton.live) for state in states)
    edges = tuple(
        Edge(state, target, condition_text(cubes))
        for state in states
        if state == 0 or not nodes[state].doomed  # edges out of doomed states are omitted
        for target, cubes in conditions(automaton, state).items()
    )
    return Graph(nodes, edges)
