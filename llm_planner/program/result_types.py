"""Types of results: what operators, questions and Python's functions give for arguments of known types."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from llm_planner.program.limits import MAX_NUMBER, MAX_TEXT
from llm_planner.program.queries import QUERIES
from llm_planner.program.static_types import ANY, MAX_LITERALS, NUMBER, Type, join_all, list_of
from llm_planner.program.values import Point

_FOLD: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def ordered(left: Type, right: Type) -> bool:
    groups = (("number", "bool"), ("text", "object"), ("list",), ("tuple",))
    return "any" in (left.name, right.name) or any(left.name in group and right.name in group for group in groups)


def fold(op: ast.operator, left: Type, right: Type, result: Type) -> Type:
    """The values that constants combine to, while they are few and small."""
    if left.literals is None or right.literals is None or len(left.literals) * len(right.literals) > MAX_LITERALS:
        return result
    values = set()
    for a, b in itertools.product(left.literals, right.literals):
        try:
            value = _FOLD[type(op)](a, b)
        except (ArithmeticError, TypeError):
            return result
        if len(value) > MAX_TEXT if isinstance(value, str) else not abs(value) <= MAX_NUMBER:
            return result
        values.add(value)
    return Type(result.name, literals=frozenset(values))


def answer_type(name: str, given: Mapping[str, Type]) -> Type:
    if name == "pairs":
        element = given["items"].element if "items" in given else ANY
        return list_of(Type("tuple", (element, element)))
    if name == "point":
        values = [tuple(given[axis].literals or ()) for axis in ("x", "y") if axis in given]
        if [len(value) for value in values] == [1, 1] and all(isinstance(v[0], (int, float)) for v in values):
            return Type("point", literals=frozenset([Point(values[0][0], values[1][0])]))
    return QUERIES[name].signature.returns


def builtin_type(name: str, positional: list[Type], returns: Type) -> Type:
    elements = tuple(item.element for item in positional)
    if not positional:
        return list_of(ANY) if name == "list" else returns
    if name in ("sorted", "reversed", "list"):
        return list_of(elements[0])
    if name == "enumerate":
        return list_of(Type("tuple", (NUMBER, elements[0])))
    if name == "zip":
        return list_of(Type("tuple", elements))
    if name in ("min", "max"):
        return elements[0] if len(positional) == 1 else join_all(tuple(positional))
    return returns
