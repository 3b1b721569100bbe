"""Conditions of a policy rule on one argument, how surely a value meets them, and their reader.

A condition never guesses. `UNSURE` means that the value leaves the answer open (a side of the table may or may not mean
its corner), `LATER` that only the scene at the time of the call can decide. Rules that allow and rules that deny treat
both so that a doubt never permits a call. The reader checks conditions of a policy file against the parameter types.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Protocol

from llm_planner.programs.values import Argument
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, REGIONS, SIDES, Rectangle
from llm_planner.scene.scene import Scene
from llm_planner.strict_yaml import Entry

ROBOT = "robot"  # subject of conditions on the robot's position


class Truth(Enum):
    """Degree to which a condition is met."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"  # the value itself leaves it open
    LATER = "later"  # the value or what it depends on is not known yet


@dataclass(frozen=True)
class Situation:
    """Scene in which a call is judged.

    Attributes:
        ahead: Whether the call comes later than `scene`.
        whereabouts: Area in which each object with a predicted position (and `ROBOT`) may be [m]; other objects are
            where the scene shows them.
    """

    scene: Scene
    ahead: bool = False
    whereabouts: Mapping[str, Rectangle] = field(default_factory=dict)


class Condition(Protocol):
    """One condition on one value."""

    def test(self, value: Argument, situation: Situation) -> Truth: ...


@dataclass(frozen=True)
class OneOf:
    """Match a value that is exactly one of these words or numbers."""

    values: tuple[str | float, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        if value in self.values:
            return Truth.YES
        return Truth.UNSURE if value == ANY_SIDE and set(self.values) & DIRECTIONS.keys() else Truth.NO


@dataclass(frozen=True)
class Pattern:
    """Match the whole text, case-sensitively; `*` stands for any text and `?` for one character."""

    pattern: str

    def test(self, value: Argument, situation: Situation) -> Truth:
        return _sure(isinstance(value, str) and fnmatchcase(value, self.pattern))


@dataclass(frozen=True)
class Range:
    """Match a number within bounds, both included."""

    low: float
    high: float

    def test(self, value: Argument, situation: Situation) -> Truth:
        if isinstance(value, (str, tuple)):
            return Truth.UNSURE
        return _sure(self.low <= value <= self.high)


@dataclass(frozen=True)
class Looks:
    """Match an object of one of these kinds or colours (`feature` is "kind" or "color"), as the scene shows it."""

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
    """Match a point, region, room or object position inside one of these areas [m, base frame]."""

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
    """Match one of these rooms by name, or a point or object in one of them."""

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


_WHERE = ("region", "area", "room")
_WORD = ("is", "pattern")
_FITTING = {  # conditions that fit a parameter type; any other type takes those on words
    "object": (*_WORD, "kind", "color", *_WHERE),
    "location": (*_WORD, "kind", "color", *_WHERE),
    "point": _WHERE,
    "place": _WHERE,  # a condition on the name alone would let the points in it through
    "region": _WHERE,
    "number": ("is", "at_least", "at_most"),
    "integer": ("is", "at_least", "at_most"),
    "destination": (*_WORD, "kind", "color", "area", "room"),
}
_ELSEWHERE = ("destination",)  # denying one by name would let through the objects there
_CHOICES: Mapping[str, Collection[str]] = {"direction": tuple(DIRECTIONS), "side": SIDES}


def read_conditions(entry: Entry, types: Collection[str], allows: bool) -> tuple[Condition, ...]:
    """Read the conditions in `entry` on a parameter of one of `types`; raise InputError if one does not fit.

    `allows` is whether the rule allows or denies. A word, a number or a list stands for the condition `is`.
    """
    fitting = [key for key in _READ if all(key in _FITTING.get(kind, _WORD) for kind in types)]
    keys = [key for key in fitting if allows or key not in _WORD or not set(types) & set(_ELSEWHERE)]
    if not entry.is_table and "is" not in keys:
        entry.wrong(f"must be a mapping with the keys {', '.join(keys)}, not {entry.shown()}")
    table = entry.table(keys) if entry.is_table else {"is": entry}
    if not table:
        entry.wrong(f"must have a condition; the conditions are: {', '.join(keys)}")
    words = [word for kind in types for word in _CHOICES.get(kind, ())]
    found = [_READ[key](value, types, words) for key, value in table.items() if key not in ("at_least", "at_most")]
    return (*found, *_range(entry, table))


def _range(entry: Entry, table: Mapping[str, Entry]) -> tuple[Condition, ...]:
    low = table["at_least"].number() if "at_least" in table else -math.inf
    high = table["at_most"].number() if "at_most" in table else math.inf
    if low > high:
        entry.wrong(f"asks for at least {low:g} and at most {high:g}, which nothing is")
    return (Range(low, high),) if {"at_least", "at_most"} & table.keys() else ()


def _is(entry: Entry, types: Collection[str], words: Collection[str]) -> Condition:
    if set(types) <= {"number", "integer"}:
        return OneOf(tuple(item.number() for item in entry.one_or_more()))
    return OneOf(tuple(item.choice(words) if words else item.text() for item in entry.one_or_more()))


def _words(entry: Entry) -> tuple[str, ...]:
    return tuple(item.text() for item in entry.one_or_more())


def _region(entry: Entry, types: Collection[str], words: Collection[str]) -> Condition:
    return Within(tuple(REGIONS[item.choice(REGIONS)].area for item in entry.one_or_more()))


def _area(entry: Entry, types: Collection[str], words: Collection[str]) -> Condition:
    sides = entry.table(("x", "y"))
    for name in ("x", "y"):
        if name not in sides:
            entry.wrong(f"needs {name}: [from, to] in metres")
    (x_min, x_max), (y_min, y_max) = _span(sides["x"]), _span(sides["y"])
    return Within((Rectangle(x_min, x_max, y_min, y_max),))


def _span(entry: Entry) -> tuple[float, float]:
    bounds = [item.number() for item in entry.items()]
    if len(bounds) != 2 or bounds[0] >= bounds[1]:
        entry.wrong("must be [from, to] in metres, the smaller one first")
    return bounds[0], bounds[1]


_Read = Callable[[Entry, Collection[str], Collection[str]], Condition]
_READ: dict[str, _Read] = {
    "is": _is,
    "pattern": lambda entry, types, words: Pattern(entry.text()),
    "kind": lambda entry, types, words: Looks("kind", _words(entry)),
    "color": lambda entry, types, words: Looks("color", _words(entry)),
    "region": _region,
    "area": _area,
    "room": lambda entry, types, words: InRoom(_words(entry)),
    "at_least": _is,  # read by _range, together with at_least
    "at_most": _is,
}
