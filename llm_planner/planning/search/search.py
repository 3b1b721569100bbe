"""Best-first search for a sequence of calls that every automaton accepts and that reaches the task's goals.

A* over the product of scene, automata and position in the model's plans. Price of a call: how unlikely the model finds
it, and the way that it takes. What cannot obey any more is cut at the letter where that becomes certain.

Windows in seconds, judged by what a plan should show at regular moments, and at those that no robot can miss: where
something changes, or a call ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from llm_planner.ltl.formula import Formula
from llm_planner.ltl.semantics import holds_in_time
from llm_planner.planning.choices import Call
from llm_planner.planning.search.bounds import DEAD, Obligations
from llm_planner.planning.search.prior import StepPrior
from llm_planner.planning.search.scene_graph import Edge, SceneGraph
from llm_planner.plans.plan import Goal

SAMPLING = 0.5  # [s] between the moments that are judged
Change = tuple[float, int]  # [s after the start], and the letter from then on


def windows_of(f: Formula) -> set[tuple[float, float]]:
    """The windows of time in it [s]."""
    own = {f.window} if f.window else set()
    return own.union(*(windows_of(g) for g in f.operands))


class Windows:
    """Those of `formulas`, false where there are none, for ways that begin with the letter `first`; letters are masks
    over `names`."""

    def __init__(self, formulas: Sequence[Formula], names: Sequence[str], first: int) -> None:
        self._timed = [formula for formula in formulas if formula.timed]
        self._names, self._first = tuple(names), first
        spoken = frozenset[str]().union(*(formula.propositions for formula in self._timed))
        self._seen = sum(1 << k for k, name in enumerate(names) if name in spoken)
        self._horizon = sum(max(last for _, last in windows_of(formula)) for formula in self._timed)

    def __bool__(self) -> bool:
        return bool(self._timed)

    def met(self, edges: Sequence[Edge]) -> bool:
        """Whether a plan that takes this way keeps them all, however often it is looked at."""
        changes = self._changes(edges)
        seldom = [*changes, (_end(edges), changes[-1][1])]
        return self._kept(seldom) and self._kept(_often(seldom))

    def _kept(self, seen: Sequence[Change]) -> bool:
        times, masks = zip(*seen, strict=True)
        letters = [frozenset(name for k, name in enumerate(self._names) if mask >> k & 1) for mask in masks]
        return all(holds_in_time(formula, letters, times) for formula in self._timed)

    def so_far(self, edges: Sequence[Edge]) -> Hashable:
        """What may still matter of a way, to the second: when it has changed what they speak of, and how late it is."""
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
    """Between two changes the same letter at regular moments."""
    samples = []
    for (begin, mask), (until, _) in pairwise(changes):
        count = max(1, round((until - begin) / SAMPLING))
        samples += [(begin + (until - begin) * k / count, mask) for k in range(count)]
    return [*samples, changes[-1]]


_Key = tuple[int, int, Hashable, Hashable]  # scene, obligation, position in the model's plans, what windows have seen
Bound = Callable[[int, int], float]  # of a scene's and an obligation's number: metres that still lie ahead at least


@dataclass(frozen=True)
class Weights:
    """What a plan costs, in nats of the model's preference: per metre travelled and per call.

    `per_goal` is what each goal is reckoned with that does not hold yet: far more than it may take, so that a search
    for many goals finds a plan soon rather than the very cheapest.
    """

    per_metre: float = 1.0
    per_call: float = 0.01
    per_goal: float = 10.0


@dataclass(frozen=True)
class Limits:
    """Where a search gives up: after so many different states, or so many seconds."""

    states: int = 60_000
    seconds: float = 5.0


@dataclass(frozen=True)
class Problem:
    """What is searched. `goals` must hold in the last scene."""

    graph: SceneGraph
    obligations: Obligations
    prior: StepPrior
    windows: Windows
    goals: tuple[Goal, ...] = ()
    weights: Weights = Weights()
    bound: Bound = lambda scene, state: 0.0


@dataclass(frozen=True)
class Found:
    """The `calls` of the best plan, or none: then `exhausted` says whether every sequence has been ruled out.

    `untimely`: some sequence was right but for its time. `states` are those looked at.
    """

    calls: tuple[Call, ...] | None
    metres: float = 0.0
    seconds: float = 0.0
    exhausted: bool = False
    states: int = 0
    untimely: bool = False


@dataclass(frozen=True, slots=True)
class _Visit:
    """One way to a state of the product: what it cost and how it came there."""

    key: _Key
    cost: float
    depth: int
    parent: _Visit | None = None
    call: Call | None = None
    edge: Edge | None = None

    def edges(self) -> list[Edge]:
        return [visit.edge for visit in self.chain() if visit.edge is not None]

    def chain(self) -> list[_Visit]:
        """From the start to here."""
        visits: list[_Visit] = []
        visit: _Visit | None = self
        while visit is not None:
            visits.append(visit)
            visit = visit.parent
        return visits[::-1]


def search(problem: Problem, limits: Limits, clock: Callable[[], float]) -> Found:
    """The cheapest plan within the limits, or for several goals one near it; `clock` gives seconds.

    Deterministic but for the clock.
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
                return self._found(visit)
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
            priced = _Visit(visit.key, visit.cost + price + self._problem.weights.per_call, visit.depth + 1, visit)
            if prior.eager:
                self._take(priced, call)
            else:  # what the call leads to is worked out when it is the best that is left
                self._push(priced.cost, 0.0, priced, call)

    def _obeys(self, visit: _Visit, call: Call) -> bool:
        number, state, _, _ = visit.key
        edge = self._edge(number, state, call)
        if edge is None:
            return False
        return self._problem.obligations.along(state, edge.letters) != DEAD

    def _edge(self, number: int, state: int, call: Call) -> Edge | None:
        """What the call leads through, round what would kill an automaton in that state."""
        obligations = self._problem.obligations
        return self._problem.graph.edge(number, call, lambda letter, among: obligations.barred(state, letter, among))

    def _take(self, priced: _Visit, call: Call) -> None:
        """Follow a call from the parent of `priced`, which has its price."""
        number, state, position, _ = priced.key
        if not self._problem.prior.eager and not self._obeys(priced, call):
            return
        edge = self._edge(number, state, call)
        assert edge is not None  # it obeys
        after = self._problem.obligations.along(state, edge.letters)
        windows = self._problem.windows
        seen = windows.so_far([*priced.edges(), edge]) if windows else ()
        key = (edge.after, after, self._problem.prior.after(position, call), seen)
        cost = priced.cost + self._problem.weights.per_metre * edge.metres
        if cost < self._best.get(key, float("inf")):
            self._arrive(_Visit(key, cost, priced.depth, priced.parent, call, edge))

    def _arrive(self, visit: _Visit) -> None:
        scene, state, _, _ = visit.key
        ahead = self._problem.bound(scene, state)
        if ahead != float("inf"):
            self._best[visit.key] = visit.cost
            weights = self._problem.weights
            ahead = weights.per_metre * ahead + weights.per_goal * self._goals_left(scene)
            self._push(visit.cost + ahead, ahead, visit, None)

    def _push(self, cost: float, ahead: float, visit: _Visit, call: Call | None) -> None:
        """Of equally good ones the one nearest to its end comes first, then the deepest, then the one met first."""
        self._ticket += 1
        heapq.heappush(self._heap, (cost, ahead, -visit.depth, self._ticket, visit, call))

    def _found(self, visit: _Visit) -> Found:
        edges = visit.edges()
        calls = tuple(item.call for item in visit.chain() if item.call is not None)
        metres, seconds = sum(edge.metres for edge in edges), sum(edge.seconds for edge in edges)
        return Found(calls, metres, seconds, states=len(self._best))
