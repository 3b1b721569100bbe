"""Arbitrary messages of any type, valid values and odd ones mixed, drawn by what the message classes say of themselves.

`Examples` keeps messages that were really sent; what is drawn is often such a one with a few fields gone wrong, so that
it gets past the first check. Everything is drawn from one `random.Random`, which may be hypothesis's.
"""

from __future__ import annotations

import copy
import importlib
import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

Message = Any  # generated classes have no common base
HUGE_TEXT, HUGE_LIST = 60_000, 1500
MOST_EXAMPLES = 60  # of one type
ODD_NUMBERS = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, 0.0, -0.0, 1e-12, 5e-324, -1.0, 1.0, 2.0**31, 1e6, -1e-3,
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "\n", "🦾", "ﬁ", "null", "NaN", "a b", "the robot", "robot", "held", "%s%n{}", "../../etc/passwd", "'; --",
    "[" * 3000, '{"a":' * 3000, "(" * 3000, "G " * 3000, "x" * HUGE_TEXT, "stop", "go on", "no, the blue one", "slower",
    'pick("red block")', "G !near(hand, mug)", "F holding(mug)", "G !", "in(", '{"operations": [{"op": []}]}',
    '{"operations": [{"op": "adjust", "quantity": "speed", "change": "scale", "value": 1e999}]}',
    '{"operations": [], "words": "\\ud800"}', "arm", "place_at", "panda_joint1",
)  # fmt: skip
_INTEGER = re.compile(r"(u?)int(\d+)")
_ARRAY = re.compile(r"(.+)\[(\d+)\]")
_SEQUENCE = re.compile(r"sequence<(.+?)(?:, (\d+))?>")
_STRING = re.compile(r"w?string(<\d+>)?")


def class_of(name: str, kind: str = "msg") -> type:
    """The class of "package/Name" or "package/kind/Name"."""
    package, *between, last = name.split("/")
    return getattr(importlib.import_module(f"{package}.{between[0] if between else kind}"), last)


class Examples:
    """Messages that were sent, and all that they are made of: by type, and texts by the name of the field."""

    def __init__(self) -> None:
        self.messages: dict[type, list[Message]] = defaultdict(list)
        self.texts: dict[str, list[str]] = defaultdict(list)

    def add(self, message: Message) -> None:
        """Keep it and its parts, as long as there is room."""
        kept = self.messages[type(message)]
        if len(kept) < MOST_EXAMPLES:
            kept.append(copy.deepcopy(message))
        for field, kind in type(message).get_fields_and_field_types().items():
            value, texts = getattr(message, field), self.texts[field.rstrip("s")]
            many = value if "sequence<" in kind or _ARRAY.fullmatch(kind) else [value]
            for part in many[:MOST_EXAMPLES] if "/" in kind or "string" in kind else []:
                if isinstance(part, str):
                    if part not in texts and len(texts) < MOST_EXAMPLES:
                        texts.append(part)
                else:
                    self.add(part)


class Fuzz:
    """Draws messages; `now` gives the time [s] around which stamps lie that are neither stale nor of the future."""

    def __init__(
        self, rng: random.Random, examples: Examples | None = None, now: Callable[[], float] = lambda: 1.7e9
    ) -> None:
        self._rng, self._now = rng, now
        self._examples = examples or Examples()

    def message(self, kind: type, odd: float = 0.15) -> Message:
        """Of the class `kind`: an example with something changed, or each field drawn, `odd` of them oddly."""
        known = self._examples.messages[kind]
        if known and self._rng.random() < 0.7:
            return self.mutated(self._rng.choice(known))
        message = kind()
        for field, told in kind.get_fields_and_field_types().items():
            setattr(message, field, self._value(field, told, odd))
        return message

    def mutated(self, message: Message) -> Message:
        """A copy, of the present, with up to three of its fields, at any depth, drawn anew; seldom none."""
        changed = copy.deepcopy(message)
        if hasattr(changed, "header"):
            changed.header.stamp = self._time(class_of("builtin_interfaces/Time"), 0.0)
        for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3))):
            self._change(changed)
        return changed

    def _change(self, message: Message) -> None:
        """One field, here or further down."""
        fields = type(message).get_fields_and_field_types()
        if not fields:
            return
        field = self._rng.choice(sorted(fields))
        value, kind = getattr(message, field), fields[field]
        parts = [part for part in _parts(value) if hasattr(part, "get_fields_and_field_types")]
        if parts and self._rng.random() < 0.75:
            self._change(self._rng.choice(parts))
        elif isinstance(value, list) and value and self._rng.random() < 0.4:
            value.pop(self._rng.randrange(len(value)))  # which leaves the lists beside it longer
        else:
            setattr(message, field, self._value(field, kind, odd=0.8))

    def _value(self, field: str, kind: str, odd: float) -> Any:
        if array := _ARRAY.fullmatch(kind):
            return [self._value(field, array[1], odd) for _ in range(int(array[2]))]
        if sequence := _SEQUENCE.fullmatch(kind):
            return self._list(field, sequence[1], int(sequence[2] or HUGE_LIST), odd)
        if kind in ("builtin_interfaces/Time", "builtin_interfaces/Duration"):
            return self._time(class_of(kind), odd)
        if "/" in kind:
            return self.message(class_of(kind), odd)
        if _STRING.fullmatch(kind):
            return self._text(field, odd)
        return self._scalar(kind, odd)

    def _scalar(self, kind: str, odd: float) -> Any:
        rng = self._rng
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "octet":
            return bytes([rng.randrange(256)])
        if kind in ("double", "float", "float64", "float32"):
            return rng.choice(ODD_NUMBERS) if rng.random() < odd else rng.uniform(-1.0, 1.0)
        bounds = _INTEGER.fullmatch(kind)
        bits, signed = (int(bounds[2]), not bounds[1]) if bounds else (8, kind == "char")
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        return rng.choice((least, most, most // 2)) if rng.random() < odd else rng.randrange(6)

    def _text(self, field: str, odd: float) -> str:
        known = self._examples.texts[field.rstrip("s")]
        if known and self._rng.random() > odd:
            return self._rng.choice(known)
        return odd_json(self._rng) if field == "edit" and self._rng.random() < 0.7 else self._rng.choice(ODD_TEXTS)

    def _list(self, field: str, kind: str, most: int, odd: float) -> Any:
        rng = self._rng
        if kind in ("uint8", "octet", "char", "byte"):
            length = rng.choice((0, 1, 7, 320, 3200)) if rng.random() > 0.01 else 2_000_000
            return bytes([rng.randrange(256)]) * length
        length = rng.choice((0, 1, 2, 3, 7, 9))
        if rng.random() < odd / 10:
            length = HUGE_LIST if "/" not in kind else 300
            return [self._value(field, kind, 0.0)] * min(length, most)
        return [self._value(field, kind, odd) for _ in range(min(length, most))]

    def _time(self, kind: type, odd: float) -> Message:
        rng = self._rng
        if rng.random() < odd:
            return kind(sec=rng.choice((0, -1, -(2**31), 2**31 - 1)), nanosec=rng.choice((0, 999_999_999, 2**32 - 1)))
        is_span = kind.__name__ == "Duration"
        around = 0.0 if is_span else max(1.0, self._now() + rng.choice((0.0, 0.0, 0.0, 0.02, -0.3, -60.0, 60.0)))
        around += rng.choice((0.0, 0.05, 0.1, 1.0)) if is_span else 0.0
        return kind(sec=int(around), nanosec=int(around % 1.0 * 1e9))


def _parts(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]


def odd_json(rng: random.Random) -> str:
    """Text of an edit: valid, nearly valid, or deep."""
    if rng.random() < 0.1:
        return rng.choice(("[" * 100_000, '{"operations":' * 2000, "{", "1e999", "[]"))
    operations = [_operation(rng) for _ in range(rng.choice((0, 1, 1, 2, 30)))]
    return json.dumps({"operations": operations, "version": rng.choice((0, 0, 1, -1, 2**40)), "words": "slower"})


def _operation(rng: random.Random) -> dict[str, Any]:
    named = {
        "op": ("hold", "resume", "shift", "adjust", "rebind", "insert", "remove", "move", "add_rule", "undo"),
        "offset": ([0.02, 0, 0], [1e308, 0, 0], [0, 0], "up"), "frame": ("person", "robot", "sideways"),
        "lifetime": ("step", "plan", 3), "quantity": ("speed", "clearance", "height", "distance", ""),
        "change": ("scale", "set", "add", []), "value": (0.5, 0, -1, math.nan, 1e308, 10**400, "fast", [0.1, 0, 0]),
        "step": ("1", "2", "99", ""), "parameter": ("object", "direction"), "before": ("1", "99"), "after": ("1", "99"),
        "skill": ("pick", "place_in", "fly"), "arguments": ({"object": "mug"}, {"object": 1e308}, {}, {"": []}),
        "formula": ("G !near(hand, mug)", "G !", "F" * 5000), "steps": (["1"], ["1", "1"], [[]]),
    }  # fmt: skip
    chosen = ["op", *rng.sample(sorted(named), rng.randrange(5))]
    return {key: rng.choice(named[key]) for key in chosen}
