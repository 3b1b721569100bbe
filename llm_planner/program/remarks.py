"""What a program says to the person: plain text of bounded length, and no motion."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.program.values import Point, Value, is_number

TELL = "tell"
MAX_REMARK = 300  # characters of one; what is longer is cut
MAX_REMARKS = 20  # in one program


def remark(parts: Sequence[Value]) -> str:
    """The values as one sentence: numbers in few digits, lists with commas."""
    text = shortened(plain_text(" ".join(map(_worded, parts))), MAX_REMARK - 1)
    return f"{text}." if text[-1:].isalnum() or text.endswith(")") else text


def _worded(value: Value) -> str:
    if isinstance(value, Point):
        return f"({value.x:.3g}, {value.y:.3g})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return f"{round(value, 3):g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_worded, value)) or "nothing"
    return "nothing" if value is None else str(value)
