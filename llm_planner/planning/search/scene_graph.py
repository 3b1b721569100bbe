"""Graph of the scenes that skill calls lead to, grown on demand, with letters as bit masks on its edges.

`Sight` evaluates letters along a forecast path without a scene for every point. Distances to boxes change no faster
than the robot moves, so if one is far from its bound, the next point can lie that far ahead (sphere tracing; Hart
1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import hypot

from llm_planner.errors import InputError
from llm_planner.execution.motion_rules import zones_for
from llm_planner.planning.choices import Call, Menu
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.trace import (
    ARM_SPACING,
    BASE_SPACING,
    MotionForecast,
    foresee_motion,
    needs_every_point,
)
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.propositions import NEAR_ARM, NEAR_BASE, ROBOT, Moment, Proposition, holds
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillError
from llm_planner.skills.paths import Waypoint, length_between, point_between

FINER = 0.2  # smallest step as a fraction of the scene spacing; shorter changes go unseen there
Key = tuple[object, ...]
Seen = tuple[int, float]  # letter as a mask, and its time [s after the start of the call]
Excess = Callable[[Vector3, Scene, Waypoint], float]  # [m] excess of a distance over its bound


class Sight:
    """Evaluation of letters as bit masks: the sum of 1 << k over the propositions k that hold.

    A group of propositions is cached by the part of the scene that it depends on.
    """

    def __init__(self, propositions: Sequence[Proposition], start: Scene) -> None:
        self._start = start
        self.needs_every_point = needs_every_point(propositions)
        self._judged: dict[str, list[tuple[int, Proposition]]] = {"robot": [], "event": [], "things": []}
        self._measured: list[tuple[int, bool, Excess]] = []
        self.places: list[tuple[int, Proposition]] = []  # about the robot's distance to objects or its place over them
        for k, item in enumerate(propositions):
            if needs_every_point([item]):
                self.places.append((1 << k, item))
                self._measured.append((1 << k, item.comparison == ">", self._excess(item)))
            elif item.predicate == "did":
                self._judged["event"].append((1 << k, item))
            else:
                of_robot = item.predicate == "in" and item.arguments[0] == ROBOT
                self._judged["robot" if of_robot else "things"].append((1 << k, item))
        self._known: dict[Key, int] = {}
        self._least = FINER * (BASE_SPACING if start.building else ARM_SPACING)

    def apart(self, moment: Moment) -> int:
        """Return the letter of a moment with the robot far from everything."""
        lying = self._judge("things", self.arrangement(moment.scene), moment)
        return lying | sum(bit for bit, beyond, _ in self._measured if beyond)

    def letter(self, moment: Moment) -> int:
        """Return the full letter of a moment."""
        scene = moment.scene
        mask = self._judge("robot", (scene.robot.position if scene.robot else (),), moment)
        mask |= self._judge("things", self.arrangement(scene), moment)
        mask |= self._measured_in(scene)
        return mask | (self._judge("event", (moment.events,), moment) if moment.events else 0)

    def _measured_in(self, scene: Scene) -> int:
        """Return the mask of measured propositions in a scene; an unseen robot is far from everything."""
        if scene.robot is None:
            return sum(bit for bit, beyond, _ in self._measured if beyond)
        x, y, z = scene.robot.position
        ox, oy, oz = scene.find(scene.held).position if scene.held else (x, y, z)
        return self._measure((x, y, z), scene, Waypoint((x, y, z), carries=(ox - x, oy - y, oz - z)))[0]

    def along(self, foreseen: MotionForecast, moment: Callable[[Scene], Moment]) -> Iterator[Seen]:
        """Iterate over the letters at points where something may have changed; `moment` adds the context to a scene."""
        for (a, b), (begun, ended) in zip(pairwise(foreseen.way.points), pairwise(foreseen.times()), strict=True):
            base = foreseen.lying(a.done)
            fixed = self._judge("things", self.arrangement(base), moment(base))
            for share in self._shares(a, b, base):
                at = point_between(a, b, share) if share else a.position
                robot = self._known.get(("robot", at))
                if robot is None:
                    robot = self._judge("robot", (at,), moment(foreseen.at(Waypoint(at), 0.0)))
                yield fixed | robot | self._measure(at, base, a)[0], begun + share * (ended - begun)

    def arrangement(self, scene: Scene) -> Key:
        """Return the held object and the positions of moved objects, to a millimetre."""
        held = scene.held
        moved = [
            (k, *millimetres(item.position))
            for k, (item, first) in enumerate(zip(scene.objects, self._start.objects, strict=True))
            if item is not first and item.name != held
        ]
        return (held, *moved)

    def _shares(self, a: Waypoint, b: Waypoint, base: Scene) -> Iterator[float]:
        """Iterate over the fractions of a segment at which to look, with the first corner included."""
        yield 0.0
        length = length_between(a, b)
        if not self._measured or length < self._least:
            return
        gone = 0.0
        while True:
            at = point_between(a, b, gone / length)
            gone += max(self._least, self._measure(at, base, a)[1])
            if gone >= length:
                return
            yield gone / length

    def _measure(self, at: Vector3, base: Scene, point: Waypoint) -> tuple[int, float]:
        """Return the mask of measured propositions at a point, and how far the robot can go before any changes [m]."""
        mask, free = 0, float("inf")
        for bit, beyond, excess in self._measured:
            value = excess(at, base, point)
            if value > 0 if beyond else value < 0:
                mask |= bit
            free = min(free, abs(value))
        return mask, free

    def _excess(self, item: Proposition) -> Excess:
        """Return the distance measure of a proposition; negative if `near` or `over` holds."""
        name = item.arguments[-1]
        if name not in self._start.names:
            return lambda at, base, point: float("-inf") if item.comparison == ">" else float("inf")
        reach = half_extents(self._start.find(name))
        flat = self._start.building is not None
        index = self._start.names.index(name)
        near = NEAR_BASE if flat else NEAR_ARM
        bound = item.bound if item.comparison else near

        def apart(at: Vector3, base: Scene, point: Waypoint) -> tuple[float, float, float]:
            x, y, z = at
            if base.held == name:  # the robot carries it
                ox, oy, oz = point.carries
                return abs(ox) - reach[0], abs(oy) - reach[1], abs(oz) - reach[2]
            ox, oy, oz = base.objects[index].position
            return abs(x - ox) - reach[0], abs(y - oy) - reach[1], abs(z - oz) - reach[2]

        def distance(at: Vector3, base: Scene, point: Waypoint) -> float:
            dx, dy, dz = apart(at, base, point)
            height = 0.0 if flat else max(0.0, dz)
            return hypot(max(0.0, dx), max(0.0, dy), height) - bound

        def over(at: Vector3, base: Scene, point: Waypoint) -> float:
            return max(apart(at, base, point)[:2])

        return over if item.predicate == "over" else distance

    def _judge(self, group: str, key: Key, moment: Moment) -> int:
        full = (group, *key)
        if full not in self._known:
            self._known[full] = sum(bit for bit, item in self._judged[group] if holds(item, moment))
        return self._known[full]


def millimetres(position: Vector3) -> tuple[int, ...]:
    return tuple([round(1000 * value) for value in position])


Barred = Callable[[int, int], int]  # (letter, among) -> propositions among the mask that must not change


@dataclass(frozen=True)
class Edge:
    """Effect of one call: the number of the scene `after` it, and the letters on the way, the last one for that scene.

    `times` are those of the letters since the start of the call [s], `metres` is the distance travelled [m], `seconds`
    the duration [s].
    """

    after: int
    letters: tuple[int, ...]
    times: tuple[float, ...]
    metres: float
    seconds: float


@dataclass(frozen=True)
class _Place:
    """A scene, and the position of each object when it last lay on its own [m]."""

    scene: Scene
    lay: Mapping[str, Vector3]


class SceneGraph:
    """Scenes reachable from `scene` (number 0) by the calls of `menu`; letters are masks as in `Sight`.

    `origins` are the positions of objects when the plan began [m], for `moved`. `spare` [m] is the part of the
    distances in `propositions` that an arm's path need not keep.
    """

    def __init__(
        self,
        scene: Scene,
        menu: Menu,
        propositions: Sequence[Proposition],
        origins: Mapping[str, Vector3] | None = None,
        spare: float = 0.0,
    ) -> None:
        self.menu, self.propositions = menu, tuple(propositions)
        lies = {item.name: item.position for item in scene.objects}
        self._origins = fixed_places(scene) if origins is None else origins
        self._numbers: dict[Key, int] = {}
        self._places: list[_Place] = []
        self._edges: dict[tuple[int, Call, int], Edge | None] = {}
        self._apart: dict[tuple[int, Call], int] = {}  # letters after calls, with the robot far from everything
        self._spare = spare
        self._sight = Sight(self.propositions, scene)
        self._among = sum(bit for bit, _ in self._sight.places)
        self._options: dict[int, tuple[Call, ...]] = {}
        self._number(_Place(scene, lies))
        self.first_letter = self._sight.letter(self._moment(scene))

    def __len__(self) -> int:
        return len(self._places)

    def scene(self, number: int) -> Scene:
        return self._places[number].scene

    def options(self, number: int) -> tuple[Call, ...]:
        """Return the calls that can start in a scene."""
        if number not in self._options:
            self._options[number] = self.menu.options(self.scene(number))
        return self._options[number]

    def edge(self, number: int, call: Call, barred: Barred = lambda letter, among: 0) -> Edge | None:
        """Return the edge of a call from a scene, or None if no way exists.

        The way avoids what is `barred`, before the call or after it.
        """
        kept = self._kept(number, call, barred)
        key = (number, call, kept)
        if key not in self._edges:
            self._edges[key] = self._follow(number, call, kept)
        return self._edges[key]

    def _kept(self, number: int, call: Call, barred: Barred) -> int:
        """Return the place propositions that the robot must not change, before the call or after it."""
        place = self._places[number]
        if not self._among:
            return 0
        kept = barred(self._sight.apart(self._moment(place.scene)), self._among)
        if kept == self._among:
            return kept
        key = (number, call)
        if key not in self._apart:
            skill = self.menu.skills[call.skill]
            promised = predict(place.scene, goals_of(skill, "", call.values(skill), place.scene, place.lay))
            self._apart[key] = self._sight.apart(self._moment(promised))
        return kept | barred(self._apart[key], self._among)

    def _zones(self, scene: Scene, kept: int) -> tuple[Zone, ...]:
        """Return the zones to avoid so that the `kept` propositions stay as they are far away."""
        if not kept:
            return ()
        here = set(scene.names) - {scene.held}
        items = [item for bit, item in self._sight.places if kept & bit and item.arguments[1] in here]
        zones = [zone for item in items for zone in zones_for(item, item.comparison == ">", scene)]
        return tuple(replace(zone, clearance=max(0.0, zone.clearance - self._spare)) for zone in zones)

    def _follow(self, number: int, call: Call, kept: int) -> Edge | None:
        place, skill = self._places[number], self.menu.skills[call.skill]
        values, zones = call.values(skill), self._zones(place.scene, kept)
        try:
            foreseen = foresee_motion(
                skill, values, place.scene, place.lay, self._sight.needs_every_point, zones, dense=False
            )
        except (InputError, SkillError):
            return None
        after = foreseen.after
        seen = list(self._sight.along(foreseen, self._moment))
        ended = Moment(after, self._origins, frozenset([foreseen.event]))
        letters = [*(mask for mask, _ in seen), self._sight.letter(ended), self._sight.letter(self._moment(after))]
        times = [*(time for _, time in seen), foreseen.seconds, foreseen.seconds]
        lies = {item.name: item.position for item in after.objects if item.name != after.held}
        number_after = self._number(_Place(after, {**place.lay, **lies}))
        return Edge(number_after, *_changes(letters, times), foreseen.way.metres, foreseen.seconds)

    def _moment(self, scene: Scene) -> Moment:
        return Moment(scene, self._origins)

    def _number(self, place: _Place) -> int:
        held = place.scene.held
        robot = millimetres(place.scene.robot.position) if place.scene.robot else ()
        taken_from = millimetres(place.lay[held]) if held in place.lay else ()
        key = (robot, taken_from, *self._sight.arrangement(place.scene))
        if key not in self._numbers:
            self._numbers[key] = len(self._places)
            self._places.append(place)
        return self._numbers[key]


def _changes(letters: Sequence[int], times: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Remove repeated letters; each remaining one has the time of its first occurrence."""
    kept = [k for k, mask in enumerate(letters) if k == 0 or mask != letters[k - 1]]
    return tuple(letters[k] for k in kept), tuple(times[k] for k in kept)
