"""A lesson: what is to be done otherwise, for which case, for how long, and where it comes from.

Lessons in words: what is done otherwise, with what, and when it was told.

Which lessons "forget that", "forget what I told you about the mug" and "forget everything" are about.

A lesson told in full: where it comes from, where it holds, and how it has done.
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
from llm_planner.language.correction_requests import Scope
from llm_planner.language.grounding.naming import similarity
from llm_planner.language.understanding.wording import FUNCTION_WORDS, words_of
from llm_planner.scene.names import the
from llm_planner.scene.places import REGIONS
from llm_planner.text import plain_text

# Words of a lesson's operations that stand for something of the plan it is used in.
THIS = "this"  # in place of a step's id: the step that the lesson is used for
FIRST = "first"  # of `Move`, in `before`: the first step of the plan
THING = "thing"  # in place of an object's name: what that step is about


class State(str, Enum):
    """How far a lesson has come."""

    PROPOSED = "proposed"  # told, and its step has not ended well yet; or told once only
    LEARNED = "learned"
    RETIRED = "retired"  # superseded, contradicted or declined; kept to explain what became of it


@dataclass(frozen=True)
class Slots:
    """What tells one case from another; "" says nothing of it. `kind`, `color` and `name` are those of a thing.

    `name` is a proper one ("Anna"), for others come and go with the scene. `place` is a room or a region.
    """

    skill: str = ""
    kind: str = ""
    color: str = ""
    name: str = ""
    place: str = ""
    user: str = ""

    def fit(self, case: Slots) -> bool:
        """Whether everything that is said here is so there."""
        return all(getattr(case, name) == value for name, value in self.said.items())

    @property
    def said(self) -> dict[str, str]:
        """The slots that are not empty."""
        return {item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name)}


@dataclass(frozen=True)
class Occasion:
    """When [s since the epoch], by whom, in which session, and during which command and step something was said."""

    time: float
    user: str = ""
    session: str = ""
    command: str = ""
    step: str = ""


@dataclass(frozen=True)
class Preference:
    """`operations` hold where `slots` fit. `case` is all that was known of the case it was told of.

    `things` are the objects that the operations name, as far as the person's words tell them from others. `id` is given
    by the store and never used again (0 before); `supersedes` is the id of the lesson in whose place it came (0: none).
    `used` is when it was used last [s since the epoch]; of its `uses`, so many were `failures` of their step.
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


_MORE_AND_LESS = {
    "speed": ("faster", "slower"),
    "clearance": ("with more room", "with less room"),
    "height": ("higher", "lower"),
    "distance": ("farther", "less far"),
    "seconds": ("longer", "shorter"),
}
_AXES = (("forward", "back"), ("left", "right"), ("up", "down"))  # more and less of x, y, z


def gist(lesson: Preference) -> str:
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


def announcement(lessons: Sequence[Preference], now: float, zone: tzinfo | None = None) -> str:
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


EVERYTHING = "everything"
_FILLERS = FUNCTION_WORDS | {"about", "what", "told", "said", "lesson", "lessons", "rule", "all", "any"}


def meant(lessons: Sequence[Preference], about: str) -> tuple[Preference, ...]:
    """The lessons that `about` names: each of its words is of their case, or else of what was said when they were told.

    "" is the one used or learned last, not what was said for once. Lessons that were retired are meant by "everything"
    only.
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
    """Of two lessons the one that was used or told last has the greater."""
    return (max(lesson.used, lesson.provenance.time), lesson.id)


def _case(lesson: Preference) -> str:
    """What the lesson is about, and what it says, in our words."""
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
    """The lesson as sentences; `lessons` are all there are, `now` is in seconds since the epoch."""
    return tuple(map(plain_text, _sentences(lesson, tuple(lessons), now, zone)))


def _sentences(lesson: Preference, lessons: tuple[Preference, ...], now: float, zone: tzinfo | None) -> Iterator[str]:
    told = lesson.provenance
    yield f"{lesson.id}: {gist(lesson)}"
    by, during = f" by {told.user}" if told.user else "", f" during step {told.step}" if told.step else ""
    yield f"Told {day(told.time, now, zone)}{by}{during}: “{lesson.words}”"
    yield f"It was said of: {of_what(lesson.case) or 'nothing in particular'}"
    yield f"It holds: {of_what(lesson.slots) or 'of everything'}, {_SCOPES[lesson.scope]}" + _for(lesson)
    yield _STATES[lesson.state]
    if lesson.uses:
        yield f"Used {lesson.uses} times, last {day(lesson.used, now, zone)}; {lesson.failures} of those steps failed."
    if lesson.supersedes:
        yield f"It came in the place of lesson {lesson.supersedes}."
    for other in lessons:
        if other.supersedes == lesson.id:
            yield f"Lesson {other.id} came in its place: {gist(other)}"


def _for(lesson: Preference) -> str:
    return f", when {lesson.slots.user} commands" if lesson.slots.user else ""
