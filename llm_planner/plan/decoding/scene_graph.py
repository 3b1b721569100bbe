"""The scenes that skill calls lead to, as a graph that grows as it is asked; its edges carry letters as bit masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.control.zones import Zone
from llm_planner.errors import InputError
from llm_planner.plan.choices import Call, Menu
from llm_planner.plan.decoding.sight import Key, Sight, millimetres
from llm_planner.plan.motion_binding import zones_for
from llm_planner.plan.plan import goals_of
from llm_planner.plan.prediction import predict
from llm_planner.plan.trace import event_of, foresee, last_scene
from llm_planner.skills.errors import SkillError
from llm_planner.world.propositions import Moment, Proposition
from llm_planner.world.scene import Scene, Vector3

Barred = Callable[[int, int], int]  # in a letter, which propositions among those of a mask must not change


@dataclass(frozen=True)
class Edge:
    """What one call does: the number of the scene after it, the letters on the way (the last is the one after it) with
    the seconds since the call began, the metres that the robot travels and the seconds that it takes."""

    after: int
    letters: tuple[int, ...]
    times: tuple[float, ...]
    metres: float
    seconds: float


@dataclass(frozen=True)
class _Place:
    """A scene, and where everything last lay on its own [m]."""

    scene: Scene
    lay: Mapping[str, Vector3]


class SceneGraph:
    """Scenes reachable from `scene` (number 0) by the calls of `menu`, seen through `propositions`.

    A letter is the sum of 1 << k over the propositions k that hold. `origins` say where each object lay when the plan
    began [m], for `moved`. Distances are asked for with `spare` [m] more than the way of an arm's hand keeps by itself.
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
        self._origins = lies if origins is None else origins
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
        """The calls that can start in that scene."""
        found = self._options.get(number)
        if found is None:
            found = self._options[number] = self.menu.options(self.scene(number))
        return found

    def edge(self, number: int, call: Call, barred: Barred = lambda letter, among: 0) -> Edge | None:
        """What the call leads through from that scene; None where no way leads there.

        The way goes round what is `barred`, before the call or after it.
        """
        kept = self._kept(number, call, barred)
        key = (number, call, kept)
        if key not in self._edges:
            self._edges[key] = self._follow(number, call, kept)
        return self._edges[key]

    def _kept(self, number: int, call: Call, barred: Barred) -> int:
        """The propositions of places that the robot must not change, before the call or after it."""
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
        """What the robot keeps out of, lest one of the propositions `kept` changes from what it is far away."""
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
            foreseen = foresee(skill, values, place.scene, place.lay, self._sight.needs_every_point, zones)
        except (InputError, SkillError):
            return None
        after = last_scene(foreseen)
        seen = list(self._sight.along(foreseen, self._moment))
        ended = Moment(after, self._origins, frozenset([event_of(skill, values, after)]))
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
    """Without repeated letters; each with the time at which it is first seen."""
    kept = [k for k, mask in enumerate(letters) if k == 0 or mask != letters[k - 1]]
    return tuple(letters[k] for k in kept), tuple(times[k] for k in kept)
