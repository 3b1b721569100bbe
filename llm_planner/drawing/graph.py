"""An automaton as the graph that is drawn: states with what they mean, and one edge for each pair of states."""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.drawing.conditions import condition_text, conditions
from llm_planner.errors import InputError
from llm_planner.temporal.automaton import Automaton

MAX_STATES = 16  # more nobody can read


@dataclass(frozen=True)
class Node:
    """One state: it may end here (`accepting`), or nothing can mend it any more (`doomed`)."""

    number: int
    accepting: bool
    doomed: bool


@dataclass(frozen=True)
class Edge:
    """All letters that lead from one state to another, as the text of their condition."""

    source: int
    target: int
    text: str


@dataclass(frozen=True)
class Graph:
    """The states, those first met first; state 0 is where every run begins."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Live states by the longest way to them that never turns back."""
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
        """Edges between live states without those that lead back to a state on the way, in the order of the search."""
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
    """Raises InputError for an automaton with more states than a picture can show."""
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
        if state == 0 or not nodes[state].doomed  # where nothing can be mended any more, nothing is told
        for target, cubes in conditions(automaton, state).items()
    )
    return Graph(nodes, edges)
