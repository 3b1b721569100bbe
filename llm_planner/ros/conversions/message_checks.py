"""Checks of numbers, texts and lists in messages, callbacks that log invalid messages, and stamps.

Every check takes the name of the field in the message definition, and raises InputError that names the field, the
value and the valid range.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence, Sized
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Point, Quaternion, Vector3
from std_msgs.msg import Header

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.scene import scene

if TYPE_CHECKING:
    from rclpy.node import Node

DISTANCE_MAX = 1e4  # [m] of a coordinate; wider than any building
SIZE_MAX = 100.0  # [m] of an object
NAME_MAX = 200  # [characters]
TEXT_MAX = 20_000  # [characters] of an utterance or a message to people
ITEMS_MAX = 1000  # of a list
NORM_TOLERANCE = 0.02  # deviation of a quaternion's norm from 1; smaller ones are normalised
_EXACT = 1e-12
LOGGED_AFTER = 5.0  # [s, wall time] between two log messages of invalid messages of one topic
Member, Value = TypeVar("Member", bound=Enum), TypeVar("Value")


def members(kind: type[Member], message: type) -> dict[int, Member]:
    """Return the members of an enumeration by the constants of a message that have their names."""
    return {getattr(message, one.name): one for one in kind}


def validated(
    node: Node, convert: Callable[[Any], Value], use: Callable[[Value], object] = lambda value: None, what: str = ""
) -> Callable[[object], None]:
    """Return a callback that uses what `convert` makes of a message.

    If that raises LlmPlannerError, the message is dropped, and the error logged behind `what`, at most every
    `LOGGED_AFTER`. Errors of `use` pass.
    """
    logged = -math.inf

    def received(message: object) -> None:
        nonlocal logged
        try:
            value = convert(message)
        except LlmPlannerError as error:
            if time.monotonic() >= logged + LOGGED_AFTER:
                logged = time.monotonic()
                node.get_logger().error(f"{what}{error}")
            return
        use(value)

    return received


def number(field: str, value: float, least: float = -DISTANCE_MAX, most: float = DISTANCE_MAX) -> float:
    """Check a finite number between `least` and `most`."""
    if not least <= value <= most:  # also refuses NaN
        raise InputError(f"{field} is {value:g}; it must be a number from {least:g} to {most:g}")
    return value


def size(field: str, message: Vector3) -> scene.Vector3:
    """Check the positive size of an object along its three axes [m]."""
    x, y, z = message.x, message.y, message.z
    if not (0 < x <= SIZE_MAX and 0 < y <= SIZE_MAX and 0 < z <= SIZE_MAX):
        told = f"({x:g}, {y:g}, {z:g})"
        raise InputError(f"{field} is {told}; each side must be more than 0 and at most {SIZE_MAX:g} m")
    return x, y, z


def point(field: str, message: Point | Vector3, most: float = DISTANCE_MAX) -> scene.Vector3:
    """Check three coordinates, each between -`most` and `most`."""
    x, y, z = message.x, message.y, message.z
    if not (-most <= x <= most and -most <= y <= most and -most <= z <= most):
        raise InputError(f"{field} is ({x:g}, {y:g}, {z:g}); its numbers must lie between {-most:g} and {most:g}")
    return x, y, z


def quaternion(field: str, message: Quaternion) -> scene.Quaternion:
    """Check a unit quaternion (x, y, z, w), and normalise it."""
    parts = message.x, message.y, message.z, message.w
    norm = math.hypot(*parts)
    if not abs(norm - 1.0) <= NORM_TOLERANCE:
        told = ", ".join(f"{part:g}" for part in parts)
        raise InputError(f"{field} is ({told}); it must be a unit quaternion (x, y, z, w)")
    if abs(norm - 1.0) <= _EXACT:
        return parts
    x, y, z, w = (part / norm for part in parts)
    return x, y, z, w


def text(field: str, value: str, most: int = TEXT_MAX) -> str:
    """Check a text, perhaps empty, of at most `most` characters."""
    if len(value) > most:
        raise InputError(f"{field} has {len(value)} characters ({value[:40]!a}…); it may have {most}")
    return value


def name(field: str, value: str) -> str:
    """Check a non-empty name of at most `NAME_MAX` characters."""
    if not value.strip():
        raise InputError(f"{field} is {value!r}; it must be a name")
    return text(field, value, NAME_MAX)


def items(field: str, values: Sized, most: int = ITEMS_MAX) -> None:
    if len(values) > most:
        raise InputError(f"{field} has {len(values)} items; it may have {most}")


def texts(field: str, values: Sequence[str], most: int = ITEMS_MAX) -> tuple[str, ...]:
    items(field, values, most)
    return tuple(text(f"{field}[{index}]", value) for index, value in enumerate(values))


def unique(field: str, values: Sequence[str]) -> None:
    if len(set(values)) < len(values):
        twice = next(value for index, value in enumerate(values) if value in values[:index])
        raise InputError(f"{field} holds {twice[:80]!a} twice; each must be there once")


def as_many(field: str, values: Sized, other: str, others: Sized) -> None:
    if len(values) != len(others):
        raise InputError(
            f"{field} has {len(values)} items and {other} has {len(others)}; give one of these for each of those"
        )


LATEST = 2**31 - 1 - 86_400  # [s] a day before stamps overflow, so that times shortly after it still fit


def stamp(seconds: float) -> TimeMsg:
    """Convert `seconds` >= 0 to a stamp, rounded to nanoseconds."""
    whole, nanoseconds = divmod(round(seconds * 1e9), 1_000_000_000)
    return TimeMsg(sec=whole, nanosec=nanoseconds)


def seconds(stamp: TimeMsg | DurationMsg, field: str = "header.stamp") -> float:
    """Convert a stamp or duration to seconds; raise InputError, naming `field`, if it is invalid."""
    if not (0 <= stamp.sec <= LATEST and stamp.nanosec < 1_000_000_000):
        raise InputError(
            f"{field} is {stamp.sec} s and {stamp.nanosec} ns; it must lie between 0 and {LATEST} s, with less than a "
            "second of ns"
        )
    return stamp.sec + stamp.nanosec * 1e-9


def header(time: float, frame: str) -> Header:
    return Header(stamp=stamp(time), frame_id=frame)
