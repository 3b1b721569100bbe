"""Checks of numbers, texts and lists in messages, and conversion of stamps to seconds.

Every check takes the name of the field in the message definition, and raises InputError that names the field, the
value and the valid range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from enum import Enum
from typing import TypeVar

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Point, Quaternion, Vector3
from std_msgs.msg import Header

from llm_planner.errors import InputError
from llm_planner.scene import scene

DISTANCE_MAX = 1e4  # [m] of a coordinate; wider than any building
SIZE_MAX = 100.0  # [m] of an object
NAME_MAX = 200  # [characters]
TEXT_MAX = 20_000  # [characters] of an utterance or a message to people
ITEMS_MAX = 1000  # of a list
NORM_TOLERANCE = 0.02  # deviation of a quaternion's norm from 1; smaller ones are normalised
_EXACT = 1e-12
Member = TypeVar("Member", bound=Enum)


def members(kind: type[Member], message: type) -> dict[int, Member]:
    """Return the members of an enumeration by the constants of a message that have their names."""
    return {getattr(message, one.name): one for one in kind}


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
    """Check a list of at most `most` items."""
    if len(values) > most:
        raise InputError(f"{field} has {len(values)} items; it may have {most}")


def texts(field: str, values: Sequence[str], most: int = ITEMS_MAX) -> tuple[str, ...]:
    """Check a list of at most `most` texts."""
    items(field, values, most)
    return tuple(text(f"{field}[{index}]", value) for index, value in enumerate(values))


def unique(field: str, values: Sequence[str]) -> None:
    """Check a list without duplicates."""
    if len(set(values)) < len(values):
        twice = next(value for index, value in enumerate(values) if value in values[:index])
        raise InputError(f"{field} holds {twice[:80]!a} twice; each must be there once")


def as_many(field: str, values: Sized, other: str, others: Sized) -> None:
    """Check that two lists have the same length."""
    if len(values) != len(others):
        raise InputError(
            f"{field} has {len(values)} items and {other} has {len(others)}; give one of these for each of those"
        )


LATEST = 2**31 - 1 - 86_400  # [s] a day before stamps overflow, so that times shortly after it still fit


def stamp(seconds: float) -> TimeMsg:
    """Convert `seconds` >= 0 to a stamp, rounded to nanoseconds."""
    whole, nanoseconds = divmod(round(seconds * 1e9), 1_000_000_000)
    return TimeMsg(sec=whole, nanosec=nanoseconds)


def seconds(time: TimeMsg | DurationMsg, field: str = "header.stamp") -> float:
    """Convert a stamp or duration to seconds; raise InputError, naming `field`, if it is invalid."""
    if not (0 <= time.sec <= LATEST and time.nanosec < 1_000_000_000):
        raise InputError(
            f"{field} is {time.sec} s and {time.nanosec} ns; it must lie between 0 and {LATEST} s, with less than a "
            "second of ns"
        )
    return time.sec + time.nanosec * 1e-9


def header(time: float, frame: str) -> Header:
    return Header(stamp=stamp(time), frame_id=frame)
