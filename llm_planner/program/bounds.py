"""How large values are, and how large they would become: asked before anything is built."""

from __future__ import annotations

from llm_planner.program.values import Value


def can_combine(symbol: str, left: Value, right: Value) -> bool:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return True
    if symbol == "+":
        return any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, list, tuple))
    items, count = (right, left) if isinstance(left, int) else (left, right)
    return symbol == "*" and isinstance(items, (list, tuple, str)) and isinstance(count, int)


def result_length(symbol: str, left: Value, right: Value) -> int:
    if symbol == "*" and (isinstance(left, (list, tuple, str)) or isinstance(right, (list, tuple, str))):
        items, count = (right, left) if isinstance(left, int) else (left, right)
        return len(items) * max(count, 0)
    return length(left) + length(right)


def length(value: Value) -> int:
    return len(value) if isinstance(value, (list, tuple, str)) else 0


def size(value: Value, limit: int) -> int:
    """How many parts a nested list has, counted at most to `limit`: shared parts count as often as they are met."""
    total = 0
    stack = [value]
    while stack and total < limit:
        part = stack.pop()
        total += 1
        if isinstance(part, (list, tuple)):
            stack.extend(part[: limit - total])
    return total
