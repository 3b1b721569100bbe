"""The shortest obedient plan by plain search, for checking and measuring the decoder, with none of its bounds."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf

from llm_planner.ltl.alphabet import Letter
from llm_planner.ltl.automaton import Automaton, automaton
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.monitor import untimed
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.planning.search.scene_graph import SceneGraph
from llm_planner.planning.search.task import Task, menu_for, spoken_of, wanted
from llm_planner.programs.signatures import Signature
from llm_planner.scene.propositions import ANYTHING
from llm_planner.scene.scene import Scene

_State = tuple[tuple[int, Letter], ...]  # of each automaton, with the last letter that it read


def optimal_length(
    scene: Scene, skills: Sequence[Signature], constraints: Sequence[Constraint], drop_anywhere: bool = False
) -> float:
    """The metres of the shortest plan that keeps all constraints (Dijkstra over scenes and automata); inf for none.

    Among the same calls as the decoder's: things are put down where a constraint speaks of, or anywhere, which takes
    far longer to search. Things of which every constraint only forbids something are left where they are: no plan gets
    shorter by moving them. Windows in seconds are not judged. Raises InputError as `decode_plan`.
    """
    task = Task(scene, tuple(skills), tuple(constraints))
    propositions = spoken_of(constraints)
    menu = menu_for(task, widest=drop_anywhere)
    asked = {word for item in wanted(constraints) for word in item.arguments}
    movable = tuple(name for name in menu.movable if name in asked or ANYTHING in asked)
    graph = SceneGraph(scene, replace(menu, movable=movable), propositions)
    names = tuple(map(str, propositions))
    automata = [automaton(untimed(one.formula), alphabet_of(names, scene)) for one in constraints]

    def letter(mask: int) -> Letter:
        return frozenset(name for k, name in enumerate(names) if mask >> k & 1)

    def fatal(states: _State, mask: int, among: int) -> int:
        """Those propositions `among` the given ones whose change in a letter some automaton does not survive."""
        bits = [1 << k for k in range(among.bit_length()) if among >> k & 1]
        now = _living(automata, _read(automata, states, [letter(mask)]))
        return sum(bit for bit in bits if now - _living(automata, _read(automata, states, [letter(mask ^ bit)])))

    start = _read(automata, tuple((one.initial, frozenset({""})) for one in automata), [letter(graph.first_letter)])
    best = {(0, start): 0.0}
    waiting: list[tuple[float, int, int, _State]] = [(0.0, 0, 0, start)]
    while waiting:
        metres, _, number, states = heapq.heappop(waiting)
        if all(q in one.accepting for one, (q, _) in zip(automata, states, strict=True)):
            return metres
        if metres > best[number, states]:
            continue
        for call in graph.options(number):
            edge = graph.edge(number, call, partial(fatal, states))
            if edge is None:
                continue
            after = _read(automata, states, [letter(mask) for mask in edge.letters])
            total = metres + edge.metres
            if all(q in one.live for one, (q, _) in zip(automata, after, strict=True)) and total < best.get(
                (edge.after, after), inf
            ):
                best[edge.after, after] = total
                heapq.heappush(waiting, (total, len(best), edge.after, after))
    return inf


def _living(automata: Sequence[Automaton], states: _State) -> set[int]:
    """The automata, by number, that something may still satisfy."""
    return {k for k, (one, (q, _)) in enumerate(zip(automata, states, strict=True)) if q in one.live}


def _read(automata: Sequence[Automaton], states: _State, letters: Sequence[Letter]) -> _State:
    """Each automaton after the changes of its own propositions."""
    after = []
    for one, (state, last) in zip(automata, states, strict=True):
        for letter in letters:
            own = letter.intersection(one.alphabet.propositions)
            if own != last:
                state, last = one.step(state, own), own
        after.append((state, last))
    return tuple(after)
