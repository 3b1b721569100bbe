"""Seconds and stamps."""

from __future__ import annotations

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from std_msgs.msg import Header

from llm_planner.errors import InputError

LATEST = 2**31 - 1 - 86_400  # [s] a day before stamps end: what lies a little after one that was heard can be stamped


def stamp(seconds: float) -> TimeMsg:
    """A stamp of `seconds` >= 0, to the nanosecond."""
    nanoseconds = round(seconds * 1e9)
    return TimeMsg(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def seconds(time: TimeMsg | DurationMsg, field: str = "header.stamp") -> float:
    """A stamp or duration as seconds; raises InputError for one that is none, naming the `field`."""
    if not (0 <= time.sec <= LATEST and time.nanosec < 1_000_000_000):
        raise InputError(
            f"{field} is {time.sec} s and {time.nanosec} ns; it must lie between 0 and {LATEST} s, with less than a "
            "second of ns"
        )
    return time.sec + time.nanosec * 1e-9


def header(time: float, frame: str) -> Header:
    return Header(stamp=stamp(time), frame_id=frame)
