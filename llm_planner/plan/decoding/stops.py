"""Stops where a plan would do what was asked for in passing: a person who asked for the kitchen looks for it there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from llm_planner.plan.choices import Call
from llm_planner.plan.decoding.obligations import DEAD
from llm_planner.plan.decoding.scene_graph import Edge
from llm_planner.plan.decoding.search import Found, Problem
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.propositions import ROBOT, Proposition, parse_proposition
from llm_planner.world.scene import Scene

DETOUR_MAX = 1.1  # of the way without stops: what they may cost


def rooms_asked_for(constraints: Sequence[Constraint], scene: Scene) -> frozenset[str]:
    """Rooms that a goal wants the robot in."""
    rooms = scene.building.names if scene.building else ()
    items = [parse_proposition(name) for one in constraints if one.goal for name in one.formula.propositions]
    return frozenset(item.arguments[1] for item in items if _is_place(item, rooms))


def with_stops(problem: Problem, found: Found, rooms: Collection[str]) -> Found:
    """The same plan with a stop in each of the `rooms` that it passes, if it still does what it must, as shortly."""
    assert found.calls is not None
    calls = tuple(_stopping(problem, found.calls, rooms))
    if calls == found.calls:
        return found
    edges = _followed(problem, calls)
    metres, seconds = sum(edge.metres for edge in edges), sum(edge.seconds for edge in edges)
    if not edges or metres > DETOUR_MAX * found.metres or not problem.on_time(edges):
        return found
    return replace(found, calls=calls, metres=metres, seconds=seconds)


def _stopping(problem: Problem, calls: Sequence[Call], rooms: Collection[str]) -> Iterator[Call]:
    names = {k: p.arguments[1] for k, p in enumerate(problem.graph.propositions) if _is_place(p, rooms)}
    number, before = 0, problem.graph.first_letter
    for call in calls:
        edge = problem.graph.edge(number, call)
        assert edge is not None  # it was found
        for letter in edge.letters[:-1]:
            entered = [name for k, name in names.items() if letter >> k & 1 and not before >> k & 1]
            if len(call.arguments) == 1:
                yield from (replace(call, arguments=(name,)) for name in entered if name not in call.arguments)
            before = letter
        yield call
        number, before = edge.after, edge.letters[-1]


def _is_place(item: Proposition, rooms: Collection[str]) -> bool:
    return item.predicate == "in" and item.arguments[0] == ROBOT and item.arguments[1] in rooms


def _followed(problem: Problem, calls: Sequence[Call]) -> list[Edge]:
    """The edges of a plan that every automaton accepts and that reaches the goals, else none."""
    number, state, edges = 0, problem.obligations.initial, []
    for call in calls:
        edge = problem.graph.edge(number, call)
        if edge is None:
            return []
        state = problem.obligations.along(state, edge.letters)
        if state == DEAD:
            return []
        number = edge.after
        edges.append(edge)
    scene = problem.graph.scene(number)
    return edges if problem.obligations.accepts(state) and all(goal.holds(scene) for goal in problem.goals) else []
