"""Seconds and stamps."""

from __future__ import annotations

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from std_msgs.msg import Header


def stamp(seconds: float) -> TimeMsg:
    """A stamp of `seconds` >= 0, to the nanosecond."""
    nanoseconds = round(seconds * 1e9)
    return TimeMsg(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def seconds(time: TimeMsg | DurationMsg) -> float:
    """A stamp or duration as seconds."""
    return time.sec + time.nanosec * 1e-9


def header(time: float, frame: str) -> Header:
    return Header(stamp=stamp(time), frame_id=frame)
