"""The scenes that skill calls lead to, as a graph that grows as it is asked; its edges carry letters as bit masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_planner.errors import InputError
from llm_planner.plan.choices import Call, Menu
from llm_planner.plan.trace import needs_every_point, pass_through
from llm_planner.world.propositions import Moment, Proposition, holds
from llm_planner.world.scene import Scene, Vector3

Key = tuple[object, ...]
Point = tuple[int, ...]  # [mm]: scenes that differ by less are one


@dataclass(frozen=True)
class Edge:
    """What one call does: the number of the scene after it, the letters on the way (the last is the one after it), the
    metres that the robot travels and, for each letter, the seconds since the call began."""

    after: int
    letters: tuple[int, ...]
    metres: float
    times: tuple[float, ...]


@dataclass(frozen=True)
class _Place:
    """A scene, and where everything last lay on its own [m]."""

    scene: Scene
    lay: Mapping[str, Vector3]


class SceneGraph:
    """Scenes reachable from `scene` (number 0) by the calls of `menu`, seen through `propositions`.

    A letter is the sum of 1 << k over the propositions k that hold. `origins` say where each object lay when the plan
    began [m], for `moved`.
    """

    def __init__(
        self,
        scene: Scene,
        menu: Menu,
        propositions: Sequence[Proposition],
        origins: Mapping[str, Vector3] | None = None,
    ) -> None:
        self.menu, self.propositions = menu, tuple(propositions)
        lies = {item.name: item.position for item in scene.objects}
        self._origins = lies if origins is None else origins
        self._every_point = needs_every_point(self.propositions)
        self._numbers: dict[Key, int] = {}
        self._places: list[_Place] = []
        self._edges: dict[tuple[int, Call], Edge | None] = {}
        self._options: dict[int, tuple[Call, ...]] = {}
        self._seen: dict[Key, int] = {}
        self._number(_Place(scene, lies))
        self.first_letter = self._letter(Moment(scene, self._origins))

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

    def edge(self, number: int, call: Call) -> Edge | None:
        """What the call leads through from that scene; None where no way leads there."""
        key = (number, call)
        if key not in self._edges:
            self._edges[key] = self._follow(number, call)
        return self._edges[key]

    def _follow(self, number: int, call: Call) -> Edge | None:
        place, skill = self._places[number], self.menu.skills[call.skill]
        try:
            passage = pass_through(skill, call.values(skill), place.scene, place.lay, self._every_point)
        except InputError:
            return None
        after = passage.scenes[-1]
        moments = passage.moments(self._origins)
        letters = [self._letter(moment) for moment in moments]
        began = place.scene.time
        lies = {item.name: item.position for item in after.objects if item.name != after.held}
        next_place = _Place(after, {**place.lay, **lies})
        kept = [k for k, mask in enumerate(letters) if k == 0 or mask != letters[k - 1]]
        times = tuple(moments[k].scene.time - began for k in kept)
        return Edge(self._number(next_place), tuple(letters[k] for k in kept), passage.metres, (*times, passage.seconds))

    def _letter(self, moment: Moment) -> int:
        key = (*scene_key(moment.scene), moment.events)
        found = self._seen.get(key)
        if found is None:
            found = sum(1 << k for k, item in enumerate(self.propositions) if holds(item, moment))
            self._seen[key] = found
        return found

    def _number(self, place: _Place) -> int:
        held = place.scene.held
        key = (*scene_key(place.scene), _millimetres(place.lay[held]) if held in place.lay else ())
        if key not in self._numbers:
            self._numbers[key] = len(self._places)
            self._places.append(place)
        return self._numbers[key]


def scene_key(scene: Scene) -> Key:
    """Equal for scenes in which everything is at the same place, to a millimetre."""
    robot = _millimetres(scene.robot.position) if scene.robot else ()
    return (robot, scene.held, *(_millimetres(item.position) for item in scene.objects))


def _millimetres(position: Vector3) -> Point:
    return tuple(round(1000 * value) for value in position)
