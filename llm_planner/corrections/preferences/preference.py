"""Lessons from corrections: what to do differently, in which case, for how long, and where the lesson comes from.

The module also words lessons for announcements and explanations, and selects the lessons that words such as "forget
what I told you about the mug" refer to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, tzinfo
from enum import Enum

from llm_planner.corrections.edits import (
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
from llm_planner.language.correction_requests import QUANTITIES, Scope
from llm_planner.language.grounding.naming import similarity
from llm_planner.language.understanding.wording import FUNCTION_WORDS, words_of
from llm_planner.scene.names import the
from llm_planner.scene.places import REGIONS
from llm_planner.text import plain_text

# Placeholders in a lesson's operations, replaced when it is bound to a plan
THIS = "this"  # step id: the step that uses the lesson
FIRST = "first"  # `before` of a `Move`: the first step of the plan
THING = "thing"  # object name: the object of that step


class State(str, Enum):
    """Progress of a lesson."""

    PROPOSED = "proposed"  # its step has not ended well yet, or it was said for once only
    LEARNED = "learned"
    RETIRED = "retired"  # superseded, contradicted or declined; kept for explanations


@dataclass(frozen=True)
class Slots:
    """Features of a case; "" matches everything.

    `kind`, `color` and `name` describe an object. `name` is a proper name ("Anna") only, because other names depend on
    the scene. `place` is a room or a region.
    """

    skill: str = ""
    kind: str = ""
    color: str = ""
    name: str = ""
    place: str = ""
    user: str = ""

    def fit(self, case: Slots) -> bool:
        """Whether all slots that are set equal those of the case."""
        return all(getattr(case, name) == value for name, value in self.said.items())

    @property
    def said(self) -> dict[str, str]:
        """Slots that are set."""
        return {item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name)}


@dataclass(frozen=True)
class Occasion:
    """Time [s since the epoch], person, session, command and step of an utterance."""

    time: float
    user: str = ""
    session: str = ""
    command: str = ""
    step: str = ""


@dataclass(frozen=True)
class Preference:
    """Lesson: `operations` apply where `slots` fit.

    `case` are all known features of the original case. `things` are the objects that the operations name, as far as the
    person's words describe them. `id` is assigned by the store and never reused (0 before); `supersedes` is the id of
    the replaced lesson (0 for none). `used` is the time of the last use [s since the epoch]; `failures` counts the
    `uses` whose step failed.
    """

    words: str
    operations: tuple[Operation, ...]
    slots: Slots
    case: Slots
    scope: Scope
    provenance: Occasion
    things: Mapping[str, Slots] = field(default_factory=dict)
    state: State = State.PROPOSED
    uses: int = 0
    failures: int = 0
    used: float = 0.0
    supersedes: int = 0
    id: int = 0


_AXES = (("forward", "back"), ("left", "right"), ("up", "down"))  # positive and negative x, y, z


def gist(lesson: Preference) -> str:
    """Summarize the lesson in a few words: "slower with red mugs"."""
    what = " and ".join(map(_said, lesson.operations))
    return " ".join(filter(None, (what, of_what(lesson.slots))))


def of_what(slots: Slots) -> str:
    """Word the case: "with red mugs during “place on” in the kitchen"; "" without slots."""
    plural = slots.kind + ("es" if slots.kind.endswith(("s", "x", "ch", "sh")) else "s")
    things = "people" if slots.kind == "person" else plural if slots.kind else "things" if slots.color else ""
    thing, skill = slots.name or f"{slots.color} {things}".strip(), slots.skill.replace("_", " ")
    preposition = "at" if slots.place in REGIONS else "in"
    parts = (
        f"with {thing}" if thing else "",
        f"during “{skill}”" if skill else "",
        f"{preposition} {the(slots.place)}" if slots.place else "",
    )
    return " ".join(filter(None, parts))


def announcement(lessons: Sequence[Preference], now: float, zone: tzinfo | None = None) -> str:
    """Announce the use of lessons: "using what you told me on 3 November: slower with mugs"; "" for none.

    `now` is in s since the epoch; days are in `zone`, by default the machine's.
    """
    days: dict[str, list[str]] = {}
    for lesson in lessons:
        says = days.setdefault(day(lesson.provenance.time, now, zone), [])
        if gist(lesson) not in says:
            says.append(gist(lesson))
    told = "; ".join(f"{when}: {', '.join(says)}" for when, says in days.items())
    return f"using what you told me {told}" if told else ""


def day(time: float, now: float, zone: tzinfo | None = None) -> str:
    """Return the day of `time`, relative to `now` [both s since the epoch]: "today", "on 3 November 2024"."""
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
            is_less = operation.value < (1.0 if operation.change is Change.SCALE else 0.0)
            known = QUANTITIES.get(operation.quantity)
            if known is None:
                return f"{'less' if is_less else 'more'} {operation.quantity}"
            return (known.less if is_less else known.more).lesson
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


EVERYTHING = "everything"
_FILLERS = FUNCTION_WORDS | {"about", "what", "told", "said", "lesson", "lessons", "rule", "all", "any"}


def meant(lessons: Sequence[Preference], about: str) -> tuple[Preference, ...]:
    """Return the lessons that `about` refers to.

    Each word of `about` must match the lesson's case, or else the case and the person's words. "" is the lesson used or
    learned last, except for those learned for once. Only "everything" includes retired lessons.
    """
    if about == EVERYTHING:
        return tuple(lessons)
    alive = [lesson for lesson in lessons if lesson.state is not State.RETIRED]
    if not about:
        lasting = [lesson for lesson in alive if lesson.scope is not Scope.ONCE]
        return tuple(sorted(lasting, key=last_in_mind)[-1:])
    asked = [word for word in words_of(about) if word not in _FILLERS]
    of_it = tuple(lesson for lesson in alive if asked and _has(_case(lesson), asked))
    return of_it or tuple(lesson for lesson in alive if asked and _has(f"{_case(lesson)} {lesson.words}", asked))


def last_in_mind(lesson: Preference) -> tuple[float, int]:
    """Return a sort key by last use or origin."""
    return (max(lesson.used, lesson.provenance.time), lesson.id)


def _case(lesson: Preference) -> str:
    slots = (lesson.slots, *lesson.things.values())
    return " ".join((*(word for item in slots for word in item.said.values()), gist(lesson))).replace("_", " ")


def _has(text: str, asked: Sequence[str]) -> bool:
    said = words_of(text)
    return all(any(similarity(word, other) or similarity(other, word) for other in said) for word in asked)


_STATES = {
    State.PROPOSED: "It is not used yet: its step has not ended well, or it was said once only.",
    State.LEARNED: "It is used.",
    State.RETIRED: "It is used no more.",
}
_SCOPES = {
    Scope.ONCE: "once",
    Scope.TASK: "for the command during which it was told",
    Scope.SESSION: "until the system is started anew",
    Scope.ALWAYS: "always",
}


def explained(
    lesson: Preference, lessons: Iterable[Preference], now: float, zone: tzinfo | None = None
) -> tuple[str, ...]:
    """Explain a lesson in sentences; `lessons` are all lessons, `now` is in s since the epoch, days are in `zone`."""
    return tuple(map(plain_text, _sentences(lesson, tuple(lessons), now, zone)))


def _sentences(lesson: Preference, lessons: tuple[Preference, ...], now: float, zone: tzinfo | None) -> Iterator[str]:
    told = lesson.provenance
    yield f"{lesson.id}: {gist(lesson)}"
    by, during = f" by {told.user}" if told.user else "", f" during step {told.step}" if told.step else ""
    yield f"Told {day(told.time, now, zone)}{by}{during}: “{lesson.words}”"
    yield f"It was said of: {of_what(lesson.case) or 'nothing in particular'}"
    person = f", when {lesson.slots.user} commands" if lesson.slots.user else ""
    yield f"It holds: {of_what(lesson.slots) or 'of everything'}, {_SCOPES[lesson.scope]}{person}"
    yield _STATES[lesson.state]
    if lesson.uses:
        yield f"Used {lesson.uses} times, last {day(lesson.used, now, zone)}; {lesson.failures} of those steps failed."
    if lesson.supersedes:
        yield f"It came in the place of lesson {lesson.supersedes}."
    for other in lessons:
        if other.supersedes == lesson.id:
            yield f"Lesson {other.id} came in its place: {gist(other)}"
