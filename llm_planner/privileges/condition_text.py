"""Conditions as a policy file writes them, checked against the parameters that they speak of."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from llm_planner.privileges.conditions import Condition, InRoom, Looks, OneOf, Pattern, Range, Within
from llm_planner.privileges.strict_yaml import Entry
from llm_planner.world.places import DIRECTIONS, REGIONS, SIDES, Rectangle

_WHERE = ("region", "area", "room")
_WORD = ("is", "pattern")
_FITTING = {  # which conditions can be put on a parameter of a type; on any other type, those on words
    "object": (*_WORD, "kind", "color", *_WHERE),
    "location": (*_WORD, "kind", "color", *_WHERE),
    "point": _WHERE,
    "place": _WHERE,  # a name alone would let the points in it through
    "region": _WHERE,
    "number": ("is", "at_least", "at_most"),
    "integer": ("is", "at_least", "at_most"),
    "destination": (*_WORD, "kind", "color", "area", "room"),
}
_ELSEWHERE = ("destination",)  # a rule that denies one by its name would let through whatever stands there
_CHOICES: Mapping[str, Collection[str]] = {"direction": tuple(DIRECTIONS), "side": SIDES}


def read_conditions(entry: Entry, types: Collection[str], allows: bool) -> tuple[Condition, ...]:
    """The conditions in `entry`, of a rule that `allows` or denies, on a parameter that has one of `types`.

    A word, a number or a list stands for the condition `is`. Raises InputError.
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
    "at_least": _is,  # both read together, by _range
    "at_most": _is,
}
