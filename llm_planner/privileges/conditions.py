"""Conditions of a rule on one argument, and how surely a value meets them.

A condition never guesses. What a value leaves open (a whole side of the table may or may not mean its corner) is
`UNSURE`, what only the scene at that time can show is `LATER`; rules that allow and rules that deny read both their
own way, so that a doubt never opens anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Protocol

from llm_planner.skills.contract import Argument
from llm_planner.world.places import ANY_SIDE, DIRECTIONS, REGIONS, Rectangle
from llm_planner.world.scene import Scene

ROBOT = "robot"  # what a condition on where the robot is speaks of


class Truth(Enum):
    """How surely a condition is met."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"  # the value itself leaves it open
    LATER = "later"  # the value, or what it depends on, is not known yet


@dataclass(frozen=True)
class Situation:
    """The scene that a call is judged in; `ahead` says that it is the scene of now, and the call comes later.

    `whereabouts` is where each thing whose place is a forecast may be (and `ROBOT`) [m]; the others are where they are.
    """

    scene: Scene
    ahead: bool = False
    whereabouts: Mapping[str, Rectangle] = field(default_factory=dict)


class Condition(Protocol):
    """One condition on one value. Its text says it to a person: "a red, green or blue one"."""

    def test(self, value: Argument, situation: Situation) -> Truth: ...


@dataclass(frozen=True)
class OneOf:
    """The value is one of these words or numbers, exactly as written."""

    values: tuple[str | float, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        if value in self.values:
            return Truth.YES
        return Truth.UNSURE if value == ANY_SIDE and set(self.values) & DIRECTIONS.keys() else Truth.NO


@dataclass(frozen=True)
class Pattern:
    """The whole text looks like this, letter by letter; `*` stands for anything and `?` for one character."""

    pattern: str

    def test(self, value: Argument, situation: Situation) -> Truth:
        return _sure(isinstance(value, str) and fnmatchcase(value, self.pattern))


@dataclass(frozen=True)
class Range:
    """A number within bounds, both included."""

    low: float
    high: float

    def test(self, value: Argument, situation: Situation) -> Truth:
        if isinstance(value, (str, tuple)):
            return Truth.UNSURE
        return _sure(self.low <= value <= self.high)


@dataclass(frozen=True)
class Looks:
    """An object of one of these kinds, or colours (`feature` is "kind" or "color"), as the scene shows it."""

    feature: str
    words: tuple[str, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        scene = situation.scene
        if value not in scene.names:
            return Truth.NO if scene.building and value in scene.building.names else Truth.UNSURE
        item = scene.find(str(value))
        return _sure((item.kind if self.feature == "kind" else item.color) in self.words)


@dataclass(frozen=True)
class Within:
    """Inside one of these parts of the floor or table [m, base frame]: a point, a region, or where an object lies."""

    areas: tuple[Rectangle, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        building = situation.scene.building
        if isinstance(value, str) and value in situation.whereabouts:
            return self._covers(situation.whereabouts[value])
        if isinstance(value, str) and building and value in building.names:
            return self._covers(building.find(value).area)
        if isinstance(value, str) and value in REGIONS:
            return self._covers(REGIONS[value].area)
        if isinstance(value, str) and value in situation.scene.names:
            if situation.ahead:
                return Truth.LATER
            value = situation.scene.find(value).position
        if not isinstance(value, tuple):
            return Truth.UNSURE
        x, y = value[:2]
        return _sure(any(area.contains(x, y) for area in self.areas))

    def _covers(self, part: Rectangle) -> Truth:
        if any(_inside(part, area) for area in self.areas):
            return Truth.YES
        return Truth.UNSURE if any(_overlap(part, area) for area in self.areas) else Truth.NO


@dataclass(frozen=True)
class InRoom:
    """One of these rooms by its name, or a point or an object in one of them."""

    rooms: tuple[str, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        scene = situation.scene
        if scene.building is None:
            return _sure(value in self.rooms)
        if isinstance(value, str) and value in situation.whereabouts:
            part = situation.whereabouts[value]
            corners = itertools.product((part.x_min, part.x_max), (part.y_min, part.y_max))
            inside = {scene.building.room_at(x, y) in self.rooms for x, y in corners}
            return _sure(inside.pop()) if len(inside) == 1 else Truth.UNSURE
        if isinstance(value, str) and value in scene.building.names:
            return _sure(value in self.rooms)
        if isinstance(value, str) and value in scene.names:
            if situation.ahead:
                return Truth.LATER
            value = scene.find(value).position
        if not isinstance(value, tuple):
            return Truth.UNSURE
        return _sure(scene.building.room_at(*value[:2]) in self.rooms)


def _sure(met: bool) -> Truth:
    return Truth.YES if met else Truth.NO


def _inside(part: Rectangle, whole: Rectangle) -> bool:
    return whole.contains(part.x_min, part.y_min, 1e-6) and whole.contains(part.x_max, part.y_max, 1e-6)


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    apart = a.x_max <= b.x_min or b.x_max <= a.x_min or a.y_max <= b.y_min or b.y_max <= a.y_min
    return not apart
