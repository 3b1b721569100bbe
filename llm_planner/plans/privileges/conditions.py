"""Conditions of a policy rule on one argument, how surely a value meets them, and how a file gives them.

A condition never guesses. `UNSURE` means that the value leaves the answer open (a side of the table may or may not mean
its corner), `LATER` that only the scene at the time of the call can decide. Rules that allow and rules that deny treat
both so that a doubt never permits a call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Annotated, Protocol

from pydantic import BeforeValidator, Field

from llm_planner.programs.values import Argument
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, REGIONS, SIDES, Rectangle
from llm_planner.scene.scene import Scene
from llm_planner.strict_yaml import (
    QUOTES,
    Among,
    FileModel,
    Interval,
    LocatedError,
    Text,
    Texts,
    no_choice,
    one_or_more,
    unknown_key,
)

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
            return self._covers(situation.scene.region(value).area)
        if isinstance(value, str) and value in situation.scene.names:
            if situation.ahead:
                return Truth.LATER
            value = situation.scene.find(value).position
        if not isinstance(value, tuple):
            return Truth.UNSURE
        x, y = value[:2]
        return _sure(any(area.contains(x, y) for area in self.areas))

    def _covers(self, part: Rectangle) -> Truth:
        for area in self.areas:
            if area.contains(part.x_min, part.y_min, 1e-6) and area.contains(part.x_max, part.y_max, 1e-6):
                return Truth.YES
        return Truth.UNSURE if any(_overlap(part, area) for area in self.areas) else Truth.NO


@dataclass(frozen=True)
class InRegion:
    """Match as `Within` inside one of these regions of the table."""

    names: tuple[str, ...]

    def test(self, value: Argument, situation: Situation) -> Truth:
        return Within(tuple(situation.scene.region(name).area for name in self.names)).test(value, situation)


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


class AreaEntry(FileModel):
    """Rectangle in the frame of the arm's base or of the map."""

    x: Interval = Field(description="from, to [m]")
    y: Interval = Field(description="from, to [m]")


Values = Annotated[tuple[Text | float, ...], Field(min_length=1), one_or_more(str | float)]
Region = Annotated[str, Among(tuple(REGIONS))]
Regions = Annotated[tuple[Region, ...], Field(min_length=1), one_or_more(Region)]


class ConditionsEntry(FileModel):
    """Conditions on one value, of which all must be met; a word, a number or a list stands for `is`."""

    is_: Values | None = Field(None, alias="is", description="one of these words or numbers")
    pattern: Text | None = Field(None, description="whole name; * stands for any text, ? for one character")
    kind: Texts | None = Field(None, description="kinds of an object")
    color: Texts | None = Field(None, description="colours of an object")
    region: Regions | None = Field(None, description="regions of the table")
    area: AreaEntry | None = None
    room: Texts | None = Field(None, description="names of rooms")
    at_least: float | None = None
    at_most: float | None = None


Test = Annotated[
    ConditionsEntry,
    BeforeValidator(lambda given: given if isinstance(given, Mapping) else {"is": given}, ConditionsEntry | Values),
]


def conditions_of(entry: ConditionsEntry, types: Collection[str], allows: bool) -> tuple[Condition, ...]:
    """Build the conditions on a parameter of one of `types`; raise InputError if one does not fit.

    `allows` is whether the rule allows or denies.
    """
    fields = {field.alias or name: name for name, field in ConditionsEntry.model_fields.items()}
    fitting = [key for key in fields if all(key in _FITTING.get(kind, _WORD) for kind in types)]
    keys = [key for key in fitting if allows or key not in _WORD or not set(types) & set(_ELSEWHERE)]
    given = [key for key, name in fields.items() if name in entry.model_fields_set]
    if not given:
        raise LocatedError(f"must have a condition; the conditions are: {', '.join(keys)}")
    for key in given:
        if key == "is" and key not in keys:  # perhaps a word, a number or a list that stands for it
            raise LocatedError(f"must be a mapping with the keys {', '.join(keys)}")
        if key not in keys:
            raise unknown_key(key, keys)
    found = (
        entry.is_ and _is(entry.is_, types),
        entry.pattern and Pattern(entry.pattern),
        entry.kind and Looks("kind", entry.kind),
        entry.color and Looks("color", entry.color),
        entry.region and InRegion(entry.region),
        entry.area and Within((Rectangle(*entry.area.x, *entry.area.y),)),
        entry.room and InRoom(entry.room),
        _range(entry) if {"at_least", "at_most"} & set(given) else None,
    )
    return tuple(test for test in found if test)


def _is(values: Sequence[str | float], types: Collection[str]) -> Condition:
    words = [word for kind in types for word in _CHOICES.get(kind, ())]
    numeric = set(types) <= {"number", "integer"}
    for k, value in enumerate(values):
        if numeric and isinstance(value, str):
            raise LocatedError(f"must be a number, not {value!r}", "is", k)
        if not numeric and isinstance(value, float):
            raise LocatedError(f"must be a text, not '{value:g}'{QUOTES}", "is", k)
        if words and value not in words:
            raise no_choice(repr(value), words, "is", k)
    return OneOf(tuple(values))


def _range(entry: ConditionsEntry) -> Condition:
    low = -math.inf if entry.at_least is None else entry.at_least
    high = math.inf if entry.at_most is None else entry.at_most
    if low > high:
        raise LocatedError(f"asks for at least {low:g} and at most {high:g}, which nothing is")
    return Range(low, high)
