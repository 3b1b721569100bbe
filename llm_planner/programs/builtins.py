"""Python built-ins and operators available to policy programs.

The built-ins behave as in Python, but return lists instead of iterators and bound the size of their results. The type
functions infer what operators, scene queries and built-ins return for arguments of known types.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_planner.programs.problems import MAX_ITEMS, MAX_NUMBER, MAX_TEXT
from llm_planner.programs.queries import QUERIES, TELL, nothing, what
from llm_planner.programs.values import ANY, BOOL, MAX_LITERALS, NUMBER, Found, Point, Type, Value, join_all, list_of


class BuiltinError(Exception):
    """Call of a built-in with values it cannot take; the evaluator adds the program line."""


def same_list(items: Sequence[Value], result: Sequence[Value]) -> list[Value]:
    """Copy `result` to a list, keeping the search description of `items` if it is a `Found`."""
    return Found(result, items.what) if isinstance(items, Found) else list(result)


def _range(*bounds: Value) -> list[int]:
    if not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in bounds):
        raise BuiltinError("range takes whole numbers")
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise BuiltinError(f"a range of {len(numbers)} numbers is too long; at most {MAX_ITEMS} are allowed")
    return list(numbers)


def _extreme(pick: Callable[..., Value], name: str) -> Callable[..., Value]:
    def choose(*items: Value) -> Value:
        candidates = items[0] if len(items) == 1 else items
        if not isinstance(candidates, (list, tuple, str)):
            raise BuiltinError(f"{name} takes a list, or several values")
        if isinstance(candidates, Found) and not candidates:
            raise nothing(f"there is no {what(candidates)}")
        if not candidates:
            raise BuiltinError(f"{name} of an empty list")
        return pick(candidates)

    return choose


def _round(number: Value, digits: Value = None) -> Value:
    if digits is not None and not (isinstance(digits, int) and abs(digits) <= 15):
        raise BuiltinError("round takes at most 15 digits")
    return round(number, digits)


def _zip(*lists: Sequence[Value]) -> list[tuple[Value, ...]]:
    """Zip the lists; if a `Found` list is empty, the result carries its description."""
    zipped = list(zip(*lists, strict=False))
    missing = [items.what for items in lists if isinstance(items, Found) and not items]
    return Found(zipped, missing[0]) if missing else zipped


BUILTIN_KEYWORDS = {"sorted": ("reverse",)}

# name: (function, minimum and maximum number of arguments, return type)
BUILTINS: dict[str, tuple[Callable[..., Any], int, int, Type]] = {
    "len": (len, 1, 1, NUMBER),
    "range": (_range, 1, 3, list_of(NUMBER)),
    "min": (_extreme(min, "min"), 1, 20, ANY),
    "max": (_extreme(max, "max"), 1, 20, ANY),
    "sum": (sum, 1, 1, NUMBER),
    "sorted": (lambda items, reverse=False: same_list(items, sorted(items, reverse=bool(reverse))), 1, 1, ANY),
    "reversed": (lambda items: same_list(items, items[::-1]), 1, 1, ANY),
    "enumerate": (lambda items: same_list(items, list(enumerate(items))), 1, 1, ANY),
    "zip": (_zip, 1, 5, ANY),
    "abs": (abs, 1, 1, NUMBER),
    "round": (_round, 1, 2, NUMBER),
    "any": (any, 1, 1, BOOL),
    "all": (all, 1, 1, BOOL),
    "list": (lambda items: same_list(items, items), 0, 1, ANY),
}

_FOLD: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def ordered(left: Type, right: Type) -> bool:
    """Return whether values of the two types can be compared with `<` and `>`."""
    groups = (("number", "bool"), ("text", "object"), ("list",), ("tuple",))
    return "any" in (left.name, right.name) or any(left.name in group and right.name in group for group in groups)


def fold(op: ast.operator, left: Type, right: Type, result: Type) -> Type:
    """Combine the known constants of two operands; return `result` if they are unknown, too many or too large."""
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
    """Infer the return type of query `name` from its argument types by parameter name."""
    if name == "pairs":
        element = given["items"].element if "items" in given else ANY
        return list_of(Type("tuple", (element, element)))
    if name == "point":
        values = [tuple(given[axis].literals or ()) for axis in ("x", "y") if axis in given]
        if [len(value) for value in values] == [1, 1] and all(isinstance(v[0], (int, float)) for v in values):
            return Type("point", literals=frozenset([Point(values[0][0], values[1][0])]))
    return QUERIES[name].signature.returns


def builtin_type(name: str, positional: list[Type], returns: Type) -> Type:
    """Infer the return type of built-in `name`; `returns` is the type declared in `BUILTINS`."""
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


def skill_name_problem(name: str) -> str:
    """Return why policy programs could not call a skill `name`; "" if they can."""
    if not name.isidentifier():
        return f"{name!r} is not a name that programs can call; use lower case letters, digits and _, e.g. wave_at"
    if keyword.iskeyword(name) or name in (*BUILTINS, *QUERIES, TELL):
        return f"{name!r} already has a meaning in policy programs; choose another name, e.g. my_{name}"
    return ""
