"""People with wishes, who watch what the simulator shows and say something where it is not as they want it.

A wish is judged by two looks at the scene and by the scene before anything moved; nobody looks at plans or lessons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import dist, inf

from llm_planner.corrections.edits import Operation
from llm_planner.scene.scene import Scene, SceneObject

COOLING = 2.0  # [s] that somebody waits for a correction to take effect
BREATH = 0.5  # [s] until something else is said
PATIENCE = 3  # times that the same is said during one command
LOWERED = 0.08  # [m] over the table, under which a thing that is carried is being put down
TRAVELLED = 0.05  # [m] from where it lay


@dataclass(frozen=True)
class Look:
    """The scene before anything moved, at the last look, and now."""

    first: Scene
    last: Scene
    now: Scene

    def carried(self, kind: str) -> SceneObject | None:
        """What is held, where it is of that kind and no longer where it lay."""
        held = next((item for item in self.now.objects if item.name == self.now.held), None)
        if held is None or held.kind != kind or apart(held, self.first.find(held.name)) < TRAVELLED:
            return None
        return held

    def lowered(self, kind: str) -> SceneObject | None:
        """What of that kind is being put down on the table."""
        held = self.carried(kind)
        return held if held is not None and bottom(held) < LOWERED else None

    @property
    def sideways(self) -> float:
        """Of the robot's hand [m/s]."""
        if self.now.robot is None or self.last.robot is None or self.now.time <= self.last.time:
            return 0.0
        way = dist(self.now.robot.position[:2], self.last.robot.position[:2])
        return way / (self.now.time - self.last.time)


@dataclass(frozen=True)
class Wish:
    """Of things of a kind: what is said (one of `words`) where it is `unmet`, whether an operation is of this wish, and
    whether the scene after all is as wished, for one of these things."""

    kind: str
    words: tuple[str, ...]
    unmet: Callable[[Look], bool]
    asks: Callable[[Operation], bool]
    kept: Callable[[Scene, Scene, SceneObject], bool] = lambda first, after, item: True
    robot: str = ""  # the kind of robot that it is about
    anywhere: bool = False  # about how they are carried, wherever they go


@dataclass
class Person:
    """Watches one command and speaks up; `round` decides how it is put into words."""

    wishes: tuple[Wish, ...]
    round: int
    said: list[str] = field(default_factory=list)
    _first: Scene | None = None
    _last: Scene | None = None
    _quiet: float = -inf
    _times: dict[int, list[float]] = field(default_factory=dict)

    def sees(self, scene: Scene) -> str:
        """What is said now, "" for nothing."""
        first = self._first = self._first or scene
        look, self._last = Look(first, self._last or scene, scene), scene
        if scene.time < self._quiet:
            return ""
        for number, wish in enumerate(self.wishes):
            times = self._times.setdefault(number, [])
            waits = len(times) >= PATIENCE or (times and scene.time < times[-1] + COOLING)
            if wish.robot in ("", scene.robot_kind) and not waits and wish.unmet(look):
                times.append(scene.time)
                self._quiet = scene.time + BREATH
                self.said.append(wish.words[self.round % len(wish.words)])
                return self.said[-1]
        return ""


def apart(one: SceneObject, other: SceneObject) -> float:
    """The distance between their middles, seen from above [m]."""
    return dist(one.position[:2], other.position[:2])


def bottom(item: SceneObject) -> float:
    """How far it is above the table [m]."""
    return item.position[2] - item.size[2] / 2
