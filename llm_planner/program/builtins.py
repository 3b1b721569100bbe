"""The few functions of Python itself that programs may use, as in Python but giving lists, and bounded in size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llm_planner.program.limits import MAX_ITEMS
from llm_planner.program.queries import nothing, what
from llm_planner.program.static_types import ANY, BOOL, NUMBER, Type, list_of
from llm_planner.program.values import Found, Value


class BuiltinError(Exception):
    """A Python function was called with values it cannot take; the interpreter says where."""


def same_list(items: Sequence[Value], result: Sequence[Value]) -> list[Value]:
    """`result` as a list that still knows what `items` were asked for."""
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
        if not candidates:
            raise _empty(candidates, name)
        return pick(candidates)

    return choose


def _empty(candidates: Sequence[Value], name: str) -> Exception:
    if isinstance(candidates, Found):
        return nothing(f"there is no {what(candidates)}")
    return BuiltinError(f"{name} of an empty list")


def _round(number: Value, digits: Value = None) -> Value:
    if digits is not None and not (isinstance(digits, int) and abs(digits) <= 15):
        raise BuiltinError("round takes at most 15 digits")
    return round(number, digits)


def _zip(*lists: Sequence[Value]) -> list[tuple[Value, ...]]:
    """As Python's; where a list that was found is empty, so is the result, and for the same reason."""
    zipped = list(zip(*lists, strict=False))
    missing = [items.what for items in lists if isinstance(items, Found) and not items]
    return Found(zipped, missing[0]) if missing else zipped


def _sorted(items: Sequence[Value], reverse: bool = False) -> list[Value]:
    return same_list(items, sorted(items, reverse=bool(reverse)))


BUILTIN_KEYWORDS = {"sorted": ("reverse",)}

# name: (the function, the fewest and the most arguments, what it gives)
BUILTINS: dict[str, tuple[Callable[..., Any], int, int, Type]] = {
    "len": (len, 1, 1, NUMBER),
    "range": (_range, 1, 3, list_of(NUMBER)),
    "min": (_extreme(min, "min"), 1, 20, ANY),
    "max": (_extreme(max, "max"), 1, 20, ANY),
    "sum": (sum, 1, 1, NUMBER),
    "sorted": (_sorted, 1, 1, ANY),
    "reversed": (lambda items: same_list(items, items[::-1]), 1, 1, ANY),
    "enumerate": (lambda items: same_list(items, list(enumerate(items))), 1, 1, ANY),
    "zip": (_zip, 1, 5, ANY),
    "abs": (abs, 1, 1, NUMBER),
    "round": (_round, 1, 2, NUMBER),
    "any": (any, 1, 1, BOOL),
    "all": (all, 1, 1, BOOL),
    "list": (lambda items: same_list(items, items), 0, 1, ANY),
}
