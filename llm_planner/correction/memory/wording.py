"""Lessons in words: what is done otherwise, with what, and when it was told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from llm_planner.correction.memory.lesson import FIRST, THING, Lesson, Slots
from llm_planner.plan.edits import (
    AddRule,
    Adjust,
    Change,
    Insert,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
)
from llm_planner.world.names import the
from llm_planner.world.places import REGIONS

_MORE_AND_LESS = {
    "speed": ("faster", "slower"),
    "clearance": ("with more room", "with less room"),
    "height": ("higher", "lower"),
    "distance": ("farther", "less far"),
    "seconds": ("longer", "shorter"),
}
_AXES = (("forward", "back"), ("left", "right"), ("up", "down"))  # more and less of x, y, z


def gist(lesson: Lesson) -> str:
    """What the lesson says, in a few words: "slower with red mugs"."""
    what = " and ".join(map(_said, lesson.operations))
    return " ".join(filter(None, (what, of_what(lesson.slots))))


def of_what(slots: Slots) -> str:
    """The case: "with red mugs during “place on” in the kitchen"; "" where there is none."""
    things = _plural(slots.kind) if slots.kind else "things" if slots.color else ""
    thing, skill = slots.name or f"{slots.color} {things}".strip(), slots.skill.replace("_", " ")
    preposition = "at" if slots.place in REGIONS else "in"
    parts = (
        f"with {thing}" if thing else "",
        f"during “{skill}”" if skill else "",
        f"{preposition} {the(slots.place)}" if slots.place else "",
    )
    return " ".join(filter(None, parts))


def announcement(lessons: Sequence[Lesson], now: float, zone: tzinfo | None = None) -> str:
    """What is said when lessons are used: "using what you told me on 3 November: slower with mugs"; "" for none.

    `now` is in seconds since the epoch, days are those of `zone` (default: the machine's).
    """
    days: dict[str, list[str]] = {}
    for lesson in lessons:
        says = days.setdefault(day(lesson.provenance.time, now, zone), [])
        if gist(lesson) not in says:
            says.append(gist(lesson))
    told = "; ".join(f"{when}: {', '.join(says)}" for when, says in days.items())
    return f"using what you told me {told}" if told else ""


def day(time: float, now: float, zone: tzinfo | None = None) -> str:
    """The day of a time, both in seconds since the epoch: "today", "on 3 November", "on 3 November 2024"."""
    then, today = datetime.fromtimestamp(time, zone), datetime.fromtimestamp(now, zone)
    if then.date() == today.date():
        return "today"
    return f"on {then.day} {then:%B}" + (f" {then.year}" if then.year != today.year else "")


def _said(operation: Operation) -> str:
    match operation:
        case Shift(offset=offset):
            return ", ".join(
                f"{abs(amount) * 100:g} cm more {sides[amount < 0]}"
                for amount, sides in zip(offset, _AXES, strict=True)
                if amount
            )
        case Adjust(quantity=quantity, change=Change.SET, value=value):
            return f"{quantity} {value:g}"
        case Adjust():
            sides = _MORE_AND_LESS.get(operation.quantity, (f"more {operation.quantity}", f"less {operation.quantity}"))
            return sides[operation.value < (1.0 if operation.change is Change.SCALE else 0.0)]
        case Rebind(value=value):
            return f"“{value}” instead"
        case Insert():
            return f"{'first' if operation.before else 'at the end'} {_call(operation)}"
        case Replace():
            return f"{_call(operation)} instead"
        case Remove():
            return "nothing done"
        case Move(before=before):
            return "first" if before == FIRST else "last"
        case AddRule(words=words):
            return words
        case _:
            return type(operation).__name__.lower()


def _call(operation: Insert | Replace) -> str:
    values = ("it" if value == THING else str(value) for value in operation.arguments.values())
    return " ".join((operation.skill.replace("_", " "), ", ".join(values))).strip()


def _plural(kind: str) -> str:
    if kind == "person":
        return "people"
    return kind + ("es" if kind.endswith(("s", "x", "ch", "sh")) else "s")
