"""Values, types and sizes in policy programs.

Objects are represented by their names; numbers, strings, lists and tuples are Python's. `Type` is what the checker
knows of a value before the program runs. The size functions bound a result before it is built.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from llm_planner.scene.scene import Vector3

Value = Any  # str, bool, int, float, None, Point, list or tuple of values


@dataclass(frozen=True)
class Point:
    """Point in the robot's base frame [m]."""

    x: float
    y: float
    z: float = 0.0


class Found(list[Value]):
    """List of search results; `what` describes the search ("block to the left of the red bowl").

    The description lets an error or a question to the person explain why the list is empty.
    """

    def __init__(self, items: Iterable[Value], what: str) -> None:
        super().__init__(items)
        self.what = what


def type_name(value: Value) -> str:
    """Name the type of a value as the program documentation does."""
    names = {bool: "a bool", int: "a number", float: "a number", str: "a string", Point: "a point", tuple: "a tuple"}
    return "nothing (None)" if value is None else names.get(type(value), "a list")


def is_number(value: Value) -> bool:
    """Return whether the value is an int or a float, but not a bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


MAX_LITERALS = 16  # with more possible values, only the type is kept
MAX_DEPTH = 4  # nesting of list types; deeper levels become "any"


_SPOKEN = {"any": "anything", "none": "nothing (None)", "object": "an object", "text": "a string"}


@dataclass(frozen=True)
class Type:
    """Abstract value: a type name, element types and possible values.

    Attributes:
        name: One of number, bool, text, object, point, none, list, tuple, any.
        items: The element type of a list, or the types of all elements of a tuple.
        literals: All possible values, or None if unknown. An object or region written as a string is a text.
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
        """Type of the elements on iteration."""
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
    """Return the type of a constant in the program."""
    if value is None:
        return NONE
    name = "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
    return Type(name, literals=frozenset([value]))


def join(a: Type, b: Type) -> Type:
    """Return the least upper bound of two types."""
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
    """Return the least upper bound of the types; "any" if there are none."""
    result = types[0] if types else ANY
    for item in types[1:]:
        result = join(result, item)
    return result


def shallow(item: Type, depth: int = MAX_DEPTH) -> Type:
    """Replace deeply nested types by "any", so that loops cannot build ever larger types."""
    if depth == 0:
        return ANY
    return replace(item, items=tuple(shallow(inner, depth - 1) for inner in item.items))


def forget_values(item: Type) -> Type:
    """Drop the possible values from a type, so that the walk of a counting loop terminates."""
    return replace(item, items=tuple(map(forget_values, item.items)), literals=None)


ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}


def can_combine(symbol: str, left: Value, right: Value) -> bool:
    """Return whether `left symbol right` is defined for the values."""
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return True
    if symbol == "+":
        return any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, list, tuple))
    items, count = (right, left) if isinstance(left, int) else (left, right)
    return symbol == "*" and isinstance(items, (list, tuple, str)) and isinstance(count, int)


def result_length(symbol: str, left: Value, right: Value) -> int:
    """Return the length that `left symbol right` would have."""
    if symbol == "*" and (isinstance(left, (list, tuple, str)) or isinstance(right, (list, tuple, str))):
        items, count = (right, left) if isinstance(left, int) else (left, right)
        return len(items) * max(count, 0)
    return length(left) + length(right)


def length(value: Value) -> int:
    """Return the length of a list, tuple or string; 0 for other values."""
    return len(value) if isinstance(value, (list, tuple, str)) else 0


def size(value: Value, limit: int) -> int:
    """Count the parts of a nested list, up to `limit`; shared parts count each time they occur."""
    total = 0
    stack = [value]
    while stack and total < limit:
        part = stack.pop()
        total += 1
        if isinstance(part, (list, tuple)):
            stack.extend(part[: limit - total])
    return total


Argument = str | float | Vector3  # object name, enumeration word, number, or point in the base frame [m]
