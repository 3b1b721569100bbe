"""Best-first search for a sequence of calls that every automaton accepts and that reaches the task's goals.

A* over the product of scene, automata and position in the model's plans. A call costs its improbability under the model
and the distance that it travels. A path is cut at the letter where acceptance becomes impossible. Time windows are
judged on letters at regular moments, and on those that no robot can miss: at changes and at the ends of calls.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from llm_planner.ltl.formula import Formula
from llm_planner.ltl.monitor import satisfied
from llm_planner.planning.choices import Call
from llm_planner.planning.search.bounds import DEAD, Obligations
from llm_planner.planning.search.prior import StepPrior
from llm_planner.planning.search.scene_graph import Edge, SceneGraph
from llm_planner.plans.plan import Goal

SAMPLING = 0.5  # [s] between the judged moments
Change = tuple[float, int]  # time [s after the start], and the letter from then on


def windows_of(f: Formula) -> set[tuple[float, float]]:
    """Return the time windows in the formula [s]."""
    own = {f.window} if f.window else set()
    return own.union(*(windows_of(g) for g in f.operands))


class Windows:
    """Time windows of `formulas`, for paths that begin with the letter `first`; false if there are none.

    Letters are bit masks over `names`.
    """

    def __init__(self, formulas: Sequence[Formula], names: Sequence[str], first: int) -> None:
        self._timed = [formula for formula in formulas if formula.timed]
        self._names, self._first = tuple(names), first
        spoken = frozenset[str]().union(*(formula.propositions for formula in self._timed))
        self._seen = sum(1 << k for k, name in enumerate(names) if name in spoken)
        self._horizon = sum(max(last for _, last in windows_of(formula)) for formula in self._timed)

    def __bool__(self) -> bool:
        return bool(self._timed)

    def met(self, edges: Sequence[Edge]) -> bool:
        """Return whether a plan along this path keeps all windows, however often its letters are sampled."""
        changes = self._changes(edges)
        seldom = [*changes, (_end(edges), changes[-1][1])]
        return self._kept(seldom) and self._kept(_often(seldom))

    def _kept(self, seen: Sequence[Change]) -> bool:
        updates = [
            (time, frozenset(name for k, name in enumerate(self._names) if mask >> k & 1)) for time, mask in seen
        ]
        return all(satisfied(formula, updates) for formula in self._timed)

    def so_far(self, edges: Sequence[Edge]) -> Hashable:
        """Return the part of a path's history that may still matter: changes and elapsed time, rounded to seconds."""
        seen = [(int(time), mask & self._seen) for time, mask in self._changes(edges) if time <= self._horizon]
        kept = tuple(one for k, one in enumerate(seen) if k == 0 or one[1] != seen[k - 1][1])
        return kept, int(min(_end(edges), self._horizon))

    def _changes(self, edges: Sequence[Edge]) -> list[Change]:
        starts = accumulate((edge.seconds for edge in edges), initial=0.0)
        changes = [(0.0, self._first)]
        for began, edge in zip(starts, edges, strict=False):
            changes += [(began + time, mask) for time, mask in zip(edge.times, edge.letters, strict=True)]
        return changes


def _end(edges: Sequence[Edge]) -> float:
    return sum(edge.seconds for edge in edges)


def _often(changes: Sequence[Change]) -> list[Change]:
    """Repeat each letter at regular moments until the next change."""
    samples = []
    for (begin, mask), (until, _) in pairwise(changes):
        count = max(1, round((until - begin) / SAMPLING))
        samples += [(begin + (until - begin) * k / count, mask) for k in range(count)]
    return [*samples, changes[-1]]


_Key = tuple[int, int, Hashable, Hashable]  # scene, obligation, position in the model's plans, history for windows
Bound = Callable[[int, int], float]  # lower bound of the distance ahead [m], by scene and obligation number


PER_CALL = 0.01  # [nats] cost of a call
# [nats] estimate for each goal that does not hold yet: far above the true cost, so that a search for many goals finds a
# plan soon instead of the cheapest one.
PER_GOAL = 10.0


@dataclass(frozen=True)
class Limits:
    """Limits of a search: number of distinct states, and time [s]."""

    states: int = 60_000
    seconds: float = 5.0


@dataclass(frozen=True)
class Problem:
    """Search problem; `goals` must hold in the last scene, and `per_metre` is the cost of travel [nats/m]."""

    graph: SceneGraph
    obligations: Obligations
    prior: StepPrior
    windows: Windows
    goals: tuple[Goal, ...] = ()
    per_metre: float = 1.0
    bound: Bound = lambda scene, state: 0.0


@dataclass(frozen=True)
class Found:
    """Calls of the best plan, or None; `exhausted` is then whether every sequence was ruled out.

    `untimely` is whether some sequence failed only its time windows; `states` is the number of visited states.
    """

    calls: tuple[Call, ...] | None
    metres: float = 0.0
    seconds: float = 0.0
    exhausted: bool = False
    states: int = 0
    untimely: bool = False


@dataclass(frozen=True, slots=True)
class _Visit:
    """One path to a state of the product, with its cost."""

    key: _Key
    cost: float
    depth: int
    parent: _Visit | None = None
    call: Call | None = None
    edge: Edge | None = None

    def edges(self) -> list[Edge]:
        return [visit.edge for visit in self.chain() if visit.edge is not None]

    def chain(self) -> list[_Visit]:
        """Return the visits from the start to this one."""
        visits: list[_Visit] = []
        visit: _Visit | None = self
        while visit is not None:
            visits.append(visit)
            visit = visit.parent
        return visits[::-1]


def search(problem: Problem, limits: Limits, clock: Callable[[], float]) -> Found:
    """Search for the cheapest plan within the limits, or for several goals a nearly cheapest one.

    The result is deterministic apart from the `clock` [s].
    """
    return _Search(problem).run(limits, clock)


class _Search:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._best: dict[_Key, float] = {}
        self._heap: list[tuple[float, float, int, int, _Visit, Call | None]] = []
        self._ticket = 0
        self._unmet: dict[int, int] = {}
        self._untimely = False

    def run(self, limits: Limits, clock: Callable[[], float]) -> Found:
        problem, deadline = self._problem, clock() + limits.seconds
        if problem.obligations.initial == DEAD:
            return Found(None, exhausted=True)
        self._arrive(_Visit((0, problem.obligations.initial, problem.prior.start, ()), 0.0, 0))
        pops = 0
        while self._heap:
            _, _, _, _, visit, call = heapq.heappop(self._heap)
            if call is not None:
                self._take(visit, call)
                continue
            if visit.cost > self._best[visit.key]:
                continue
            if self._is_goal(visit):
                edges = visit.edges()
                calls = tuple(item.call for item in visit.chain() if item.call is not None)
                metres, seconds = sum(edge.metres for edge in edges), sum(edge.seconds for edge in edges)
                return Found(calls, metres, seconds, states=len(self._best))
            pops += 1
            if len(self._best) > limits.states or (pops % 64 == 0 and clock() > deadline):
                return Found(None, untimely=self._untimely, states=len(self._best))
            self._expand(visit)
        return Found(None, exhausted=not self._untimely, untimely=self._untimely, states=len(self._best))

    def _is_goal(self, visit: _Visit) -> bool:
        scene, state, _, _ = visit.key
        if not (self._problem.obligations.accepts(state) and not self._goals_left(scene)):
            return False
        in_time = not self._problem.windows or self._problem.windows.met(visit.edges())
        self._untimely = self._untimely or not in_time
        return in_time

    def _goals_left(self, number: int) -> int:
        if number not in self._unmet:
            scene = self._problem.graph.scene(number)
            self._unmet[number] = sum(not goal.holds(scene) for goal in self._problem.goals)
        return self._unmet[number]

    def _expand(self, visit: _Visit) -> None:
        number, _, position, _ = visit.key
        graph, prior = self._problem.graph, self._problem.prior
        calls = graph.options(number)
        if prior.eager:
            calls = tuple(call for call in calls if self._obeys(visit, call))
        prices = prior.prices(position, calls, graph.scene(number))
        for call, price in zip(calls, prices, strict=True):
            priced = _Visit(visit.key, visit.cost + price + PER_CALL, visit.depth + 1, visit)
            if prior.eager:
                self._take(priced, call)
            else:  # evaluated lazily, when the call is the best one left
                self._push(priced.cost, 0.0, priced, call)

    def _obeys(self, visit: _Visit, call: Call) -> bool:
        number, state, _, _ = visit.key
        edge = self._edge(number, state, call)
        if edge is None:
            return False
        return self._problem.obligations.along(state, edge.letters) != DEAD

    def _edge(self, number: int, state: int, call: Call) -> Edge | None:
        """Return the edge of the call, around what would kill an automaton in that state."""
        obligations = self._problem.obligations
        return self._problem.graph.edge(number, call, lambda letter, among: obligations.barred(state, letter, among))

    def _take(self, priced: _Visit, call: Call) -> None:
        """Follow a call from the parent of `priced`, which includes its price."""
        number, state, position, _ = priced.key
        if not self._problem.prior.eager and not self._obeys(priced, call):
            return
        edge = self._edge(number, state, call)
        assert edge is not None  # checked by _obeys
        after = self._problem.obligations.along(state, edge.letters)
        windows = self._problem.windows
        seen = windows.so_far([*priced.edges(), edge]) if windows else ()
        key = (edge.after, after, self._problem.prior.after(position, call), seen)
        cost = priced.cost + self._problem.per_metre * edge.metres
        if cost < self._best.get(key, float("inf")):
            self._arrive(_Visit(key, cost, priced.depth, priced.parent, call, edge))

    def _arrive(self, visit: _Visit) -> None:
        scene, state, _, _ = visit.key
        ahead = self._problem.bound(scene, state)
        if ahead != float("inf"):
            self._best[visit.key] = visit.cost
            ahead = self._problem.per_metre * ahead + PER_GOAL * self._goals_left(scene)
            self._push(visit.cost + ahead, ahead, visit, None)

    def _push(self, cost: float, ahead: float, visit: _Visit, call: Call | None) -> None:
        """Queue a visit; ties go to the one nearest to its end, then to the deepest, then to the oldest."""
        self._ticket += 1
        heapq.heappush(self._heap, (cost, ahead, -visit.depth, self._ticket, visit, call))
