"""The values a program computes with. Objects are their names; numbers, strings, lists and tuples are Python's own.

What the checker knows of a value before the program runs: its type and, where it can tell, its possible values.

How large values are, and how large they would become: asked before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from llm_planner.scene.scene import Vector3

Value = Any  # str, bool, int, float, None, Point, list or tuple of values


@dataclass(frozen=True)
class Point:
    """A point in the robot's base frame [m]."""

    x: float
    y: float
    z: float = 0.0


class Found(list[Value]):
    """A list that the scene was asked for, and `what` was asked ("block to the left of the red bowl").

    `what` lets an empty list be told to a person; `person_can_answer` since only a person knows what they meant.
    """

    def __init__(self, items: Iterable[Value], what: str) -> None:
        super().__init__(items)
        self.what = what


def type_name(value: Value) -> str:
    """What a value is, in the words of the program's documentation."""
    names = {bool: "a bool", int: "a number", float: "a number", str: "a string", Point: "a point", tuple: "a tuple"}
    return "nothing (None)" if value is None else names.get(type(value), "a list")


def is_number(value: Value) -> bool:
    """True for int and float; Python's bool is an int, ours is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


MAX_LITERALS = 16  # beyond that many possible values only the type is kept
MAX_DEPTH = 4  # lists in lists in lists; deeper is anything


_SPOKEN = {"any": "anything", "none": "nothing (None)", "object": "an object", "text": "a string"}


@dataclass(frozen=True)
class Type:
    """`name` is one of: number, bool, text, object, point, none, list, tuple, any.

    `items` holds the one element type of a list, or each element's of a tuple. `literals` are all the values it may
    have, or None where that is not known; an object or a region written out is a text with its literals.
    """

    name: str
    items: tuple[Type, ...] = ()
    literals: frozenset[Any] | None = None

    def __str__(self) -> str:
        if self.literals:
            return " or ".join(sorted(map(repr, self.literals)))
        if self.name == "list" and self.items:
            return f"a list of {self.items[0].name}s"
        return _SPOKEN.get(self.name, f"a {self.name}")

    @property
    def element(self) -> Type:
        """What iterating yields."""
        if self.name == "list" and self.items:
            return self.items[0]
        if self.name == "tuple" and self.items:
            return join_all(self.items)
        return TEXT if self.name == "text" else ANY


ANY = Type("any")
NONE = Type("none")
NUMBER = Type("number")
BOOL = Type("bool")
TEXT = Type("text")
OBJECT = Type("object")
POINT = Type("point")


def list_of(element: Type) -> Type:
    return Type("list", (element,))


OBJECTS = list_of(OBJECT)
POINTS = list_of(POINT)


def constant(value: Any) -> Type:
    """The type of a value written in the program."""
    if value is None:
        return NONE
    name = "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
    return Type(name, literals=frozenset([value]))


def join(a: Type, b: Type) -> Type:
    """What a value is when it may be either."""
    if a == b:
        return a
    if a.name != b.name or len(a.items) != len(b.items):
        return ANY
    items = tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True))
    literals = None
    if a.literals is not None and b.literals is not None and len(a.literals | b.literals) <= MAX_LITERALS:
        literals = a.literals | b.literals
    return Type(a.name, items, literals)


def join_all(types: tuple[Type, ...]) -> Type:
    """What a value is when it may be any of `types`; anything where there is none."""
    result = types[0] if types else ANY
    for item in types[1:]:
        result = join(result, item)
    return result


def shallow(item: Type, depth: int = MAX_DEPTH) -> Type:
    """The same, with what is nested too deep forgotten, so that a loop cannot build ever larger types."""
    if depth == 0:
        return ANY
    return replace(item, items=tuple(shallow(inner, depth - 1) for inner in item.items))


def forget_values(item: Type) -> Type:
    """The same without the values it may have: how the checker stops a loop that counts."""
    return replace(item, items=tuple(map(forget_values, item.items)), literals=None)


def can_combine(symbol: str, left: Value, right: Value) -> bool:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return True
    if symbol == "+":
        return any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, list, tuple))
    items, count = (right, left) if isinstance(left, int) else (left, right)
    return symbol == "*" and isinstance(items, (list, tuple, str)) and isinstance(count, int)


def result_length(symbol: str, left: Value, right: Value) -> int:
    if symbol == "*" and (isinstance(left, (list, tuple, str)) or isinstance(right, (list, tuple, str))):
        items, count = (right, left) if isinstance(left, int) else (left, right)
        return len(items) * max(count, 0)
    return length(left) + length(right)


def length(value: Value) -> int:
    return len(value) if isinstance(value, (list, tuple, str)) else 0


def size(value: Value, limit: int) -> int:
    """How many parts a nested list has, counted at most to `limit`: shared parts count as often as they are met."""
    total = 0
    stack = [value]
    while stack and total < limit:
        part = stack.pop()
        total += 1
        if isinstance(part, (list, tuple)):
            stack.extend(part[: limit - total])
    return total


Argument = str | float | Vector3  # an object name, a word of an enumeration, a number, or a point in the base frame [m]
