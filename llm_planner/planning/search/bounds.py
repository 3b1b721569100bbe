"""Automata of all constraints as one product, and a lower bound of the distance that a mobile robot still has to drive.

`Obligations` is the product over letters as bit masks, built on demand. A proposition that every accepting run must
still show gives `DrivingBound` a stop: a room to pass or to stop in, an object to approach or to fetch. The bound is
the best order of the stops, found by dynamic programming (Held and Karp 1962), on ways that avoid closed rooms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import dist, hypot, inf

from llm_planner.ltl.alphabet import Alphabet, Graph, given, leaves
from llm_planner.ltl.automaton import Automaton, automaton
from llm_planner.ltl.formula import Formula
from llm_planner.planning.search.scene_graph import SceneGraph
from llm_planner.plans.prediction import middle_of, place_beside
from llm_planner.scene.places import Point2
from llm_planner.scene.propositions import ANYTHING, NEAR_BASE, ROBOT, Moment, Proposition, holds
from llm_planner.scene.scene import Building, Scene

DEAD = -1
_Part = tuple[int, int]  # state of an automaton, and its last letter as a mask


class Obligations:
    """Product of the automata of all constraints; its states are numbers.

    A letter that repeats an automaton's last one is not read again. `initial` is the state after the letters `read`.

    Args:
        order: Propositions in the order of the bits of a letter.
        read: Letters so far.
        stops: Mask per formula of what it sees only in the last letter of a call; () if every formula sees everything.
    """

    def __init__(
        self,
        formulas: Sequence[Formula],
        alphabet: Alphabet,
        order: Sequence[str],
        read: Sequence[int],
        stops: Sequence[int] = (),
    ) -> None:
        self.automata = tuple(automaton(formula, alphabet) for formula in formulas)
        self._order = tuple(order)
        self._masks = tuple(sum(1 << order.index(name) for name in f.propositions) for f in formulas)
        self._numbers: dict[tuple[_Part, ...], int] = {}
        self._parts: list[tuple[_Part, ...]] = []
        self._accepting: list[bool] = []
        self._step = cache(self._step_of)
        self.along = cache(self._along_letters)
        self.barred = cache(self._barred_by)
        self._passing = self._masks
        before = tuple((item.initial, -1) for item in self.automata)
        self.initial = self._along(before, tuple(read))
        self._passing = tuple(
            mask & ~stop for mask, stop in zip(self._masks, stops or (0,) * len(formulas), strict=True)
        )

    def _along_letters(self, state: int, letters: tuple[int, ...]) -> int:
        """Return the state after the letters, DEAD as soon as a constraint can no longer hold."""
        return self._along(self._parts[state], letters)

    def _barred_by(self, state: int, letter: int, among: int) -> int:
        """Return those of the propositions `among` that make the next letter fatal if they alone change.

        Automata for which the unchanged letter is already fatal do not count.
        """
        fatal = 0
        for index, part in enumerate(self._parts[state]):
            own = among & self._masks[index]
            if own and self._part(index, part, (letter,)) is not None:
                bits = [1 << k for k in range(own.bit_length()) if own >> k & 1]
                fatal |= sum(bit for bit in bits if self._part(index, part, (letter ^ bit,)) is None)
        return fatal

    def accepts(self, state: int) -> bool:
        """Return whether the plan may end in this state."""
        return self._accepting[state]

    def parts(self, state: int) -> tuple[_Part, ...]:
        """Return the states of the single automata, each with the last letter that it has read."""
        return self._parts[state]

    def _along(self, parts: tuple[_Part, ...], letters: tuple[int, ...]) -> int:
        after = []
        for k, part in enumerate(parts):
            moved = self._part(k, part, letters)
            if moved is None:
                return DEAD
            after.append(moved)
        return self._number(tuple(after))

    def _part(self, index: int, part: _Part, letters: tuple[int, ...]) -> _Part | None:
        state, last = part
        live, passing, end = self.automata[index].live, self._passing[index], len(letters) - 1
        for k, letter in enumerate(letters):
            own = letter & (self._masks[index] if k == end else passing)
            if own == last:
                continue
            state, last = self._step(index, state, own), own
            if state not in live:
                return None
        return state, last

    def _step_of(self, index: int, state: int, own: int) -> int:
        letter = frozenset(name for k, name in enumerate(self._order) if own >> k & 1)
        return self.automata[index].step(state, letter)

    def _number(self, parts: tuple[_Part, ...]) -> int:
        if parts not in self._numbers:
            self._numbers[parts] = len(self._parts)
            self._parts.append(parts)
            self._accepting.append(all(q in a.accepting for a, (q, _) in zip(self.automata, parts, strict=True)))
        return self._numbers[parts]


MAX_STOPS = 8  # stops of one round; leaving some out weakens the bound but keeps it valid


@dataclass(frozen=True)
class Spot:
    """A point [m], or any point within `reach` [m] of it."""

    point: Point2
    reach: float = 0.0


@dataclass(frozen=True)
class Stop:
    """A stop of the robot at one of the `spots`, or with `through` on a way through the `room`.

    It comes after the stop `after`. Between a stop that `fetches` an object and the one that `delivers` it nothing else
    can be fetched.
    """

    spots: tuple[Spot, ...]
    room: str = ""
    through: bool = False
    after: Stop | None = None
    fetches: bool = False
    delivers: bool = False


class DrivingBound:
    """Lower bound of the distance ahead [m], by scene and obligation number; 0 without a building."""

    def __init__(self, graph: SceneGraph, obligations: Obligations) -> None:
        self._graph, self._obligations = graph, obligations
        self._needs = tuple(_needed_propositions(one) for one in obligations.automata)
        self._propositions = {str(item): item for item in graph.propositions}
        in_rooms = [p for p in graph.propositions if p.predicate == "in" and p.arguments[0] == ROBOT]
        closed = [p.arguments[1] for p in in_rooms if any(_forbids(one, str(p)) for one in obligations.automata)]
        building = graph.scene(0).building
        self._rounds = Rounds(Ways(building, frozenset(closed))) if building else None

    def __call__(self, number: int, state: int) -> float:
        """Return the bound, infinite if the end is out of reach."""
        scene = self._graph.scene(number)
        if self._rounds is None or scene.robot is None:
            return 0.0
        x, y, _ = scene.robot.position
        return self._rounds.shortest(Spot((x, y)), self._stops_ahead(scene, state))

    def _stops_ahead(self, scene: Scene, state: int) -> frozenset[Stop]:
        parts = zip(self._needs, self._obligations.parts(state), strict=True)
        needed = sorted({name for needs, (q, _) in parts for name in needs[q]})
        stops: dict[Stop, None] = {}
        for item in (self._propositions[name] for name in needed):
            if not holds(item, Moment(scene)) and len(stops) <= MAX_STOPS - 2:
                stops.update(dict.fromkeys(_stops_for(item, scene, self._graph.menu.drops)))
        return frozenset(stops)


def _needed_propositions(one: Automaton) -> tuple[frozenset[str], ...]:
    """Return for each state the propositions that must hold at least once before it accepts."""
    states = frozenset(range(len(one.transitions)))
    needed: list[set[str]] = [set() for _ in states]
    for name in one.alphabet.propositions:
        without = Graph(given(one.transitions, name, False))
        for state in states - without.reaching(one.accepting):
            needed[state].add(name)
    return tuple(map(frozenset, needed))


def _forbids(one: Automaton, name: str) -> bool:
    """Return whether every letter with this proposition is fatal."""
    if name not in one.alphabet.propositions:
        return False
    after = given(one.transitions, name, True)
    return not any(leaves(after[state]) & one.live for state in one.live)


def _stops_for(item: Proposition, scene: Scene, drops: Mapping[str, frozenset[str]]) -> tuple[Stop, ...]:
    """Return where the robot must go for `item` to become true."""
    assert scene.building is not None  # only a mobile robot has stops
    match item.predicate, item.arguments:
        case "in", (what, room) if room in scene.building.names:
            if what == ROBOT:
                return (Stop(_halts(scene, room), room, through=True),)
            (*fetch,) = _fetch(scene, what) if what != scene.held else ()
            if not fetch and what != scene.held:
                return ()
            carried_on = drops.get(what) == frozenset({room})  # it can be put down only here
            after = fetch[0] if fetch else None
            return (*fetch, Stop(_halts(scene, room), after=after, delivers=carried_on))
        case "holding", (what,) if what != ANYTHING:
            return _fetch(scene, what)
        case (("near" | "distance"), (_, what)) if (
            item.comparison != ">" and what in scene.names and what != scene.held
        ):
            thing = scene.find(what)
            x, y, _ = thing.position
            near = item.bound if item.comparison else NEAR_BASE
            return (Stop((Spot((x, y), near + hypot(*thing.size[:2]) / 2),)),)
        case "did", (skill, room) if room in scene.building.names and skill != "go_to":
            return (Stop(_halts(scene, room)),)
    return ()


def _halts(scene: Scene, room: str) -> tuple[Spot, ...]:
    """Return where a robot may stop in a room: in its middle, or beside an object there."""
    assert scene.building is not None
    building = scene.building
    things = [item for item in scene.objects if building.room_at(*item.position[:2]) == room]
    places = [place_beside(building, scene, item) for item in things]
    return tuple(map(Spot, dict.fromkeys([middle_of(building, scene, room), *places])))


def _fetch(scene: Scene, name: str) -> tuple[Stop, ...]:
    """Return the stop at which the robot picks an object up; () if the object is not in the scene."""
    assert scene.building is not None
    if name not in scene.names:
        return ()
    return (Stop((Spot(place_beside(scene.building, scene, scene.find(name))),), fetches=True),)


class Ways:
    """Shortest ways between points of a building [m] that do not pass closed rooms."""

    def __init__(self, building: Building, closed: frozenset[str] = frozenset()) -> None:
        self.building = building
        self.doors: dict[str, list[int]] = {
            room.name: [k for k, door in enumerate(building.doors) if room.name in door.rooms]
            for room in building.rooms
        }
        self.points = [door.position for door in building.doors]
        count = range(len(self.points))
        self.between = [[0.0 if a == b else inf for b in count] for a in count]
        for a, b in product(count, repeat=2):
            if {*building.doors[a].rooms} & {*building.doors[b].rooms} - closed:
                self.between[a][b] = dist(self.points[a], self.points[b])
        for via in count:
            row = self.between[via]
            for line in self.between:
                first = line[via]
                line[:] = [min(known, first + further) for known, further in zip(line, row, strict=True)]
        self._from: dict[Point2, tuple[float, ...]] = dict(zip(self.points, map(tuple, self.between), strict=True))

    def to_doors(self, point: Point2) -> tuple[float, ...]:
        """Return the distances from a point to every door."""
        found = self._from.get(point)
        if found is None:
            own = self.doors.get(self.building.room_at(*point), [])
            columns = range(len(self.points))
            reach = [(k, dist(point, self.points[k])) for k in own]
            found = tuple(min((d + self.between[k][j] for k, d in reach), default=inf) for j in columns)
            self._from[point] = found
        return found

    def to_point(self, a: Point2, b: Point2) -> float:
        room = self.building.room_at(*b)
        if a not in self.points and self.building.room_at(*a) == room:
            return dist(a, b)
        from_a = self.to_doors(a)
        return min((from_a[k] + dist(self.points[k], b) for k in self.doors.get(room, [])), default=inf)


class Rounds:
    """Shortest way from a point through a set of stops, in any order that keeps each behind the one it is `after`."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self.shortest = cache(self._shortest)
        self._legs = cache(self._legs_to)

    def _shortest(self, here: Spot, stops: frozenset[Stop]) -> float:
        """Return the length of the way [m], infinite if no doors lead there."""
        if not stops:
            return 0.0
        found = inf
        loaded = any(stop.delivers and stop.after not in stops for stop in stops)
        for stop in stops:
            if stop.after not in stops and not (loaded and stop.fetches):
                rest = stops - {stop}
                for length, there in self._legs(here, stop):
                    if length < found:
                        found = min(found, length + self.shortest(there, rest))
        return found

    def _legs_to(self, here: Spot, stop: Stop) -> tuple[tuple[float, Spot], ...]:
        """Return the distances to a stop and the spots after it; a room may be left by each of its other doors."""
        ways = self._ways
        legs = [
            (max(0.0, ways.to_point(here.point, spot.point) - here.reach - spot.reach), spot) for spot in stop.spots
        ]
        reach, doors = ways.to_doors(here.point), ways.doors[stop.room] if stop.through else []
        for leave in doors:
            enters = [reach[k] + dist(ways.points[k], ways.points[leave]) for k in doors if k != leave]
            if enters:
                legs.append((max(0.0, min(enters) - here.reach), Spot(ways.points[leave])))
        return tuple(legs)
