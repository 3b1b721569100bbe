"""The values a program computes with. Objects are their names; numbers, strings, lists and tuples are Python's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
