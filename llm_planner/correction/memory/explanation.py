"""A lesson told in full: where it comes from, where it holds, and how it has done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo

from llm_planner.correction.memory.lesson import Lesson, State
from llm_planner.correction.memory.wording import day, gist, of_what
from llm_planner.language.plain_text import plain_text
from llm_planner.plan.edits import Scope

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


def explained(lesson: Lesson, lessons: Iterable[Lesson], now: float, zone: tzinfo | None = None) -> tuple[str, ...]:
    """The lesson as sentences; `lessons` are all there are, `now` is in seconds since the epoch."""
    return tuple(map(plain_text, _sentences(lesson, tuple(lessons), now, zone)))


def _sentences(lesson: Lesson, lessons: tuple[Lesson, ...], now: float, zone: tzinfo | None) -> Iterator[str]:
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


def _for(lesson: Lesson) -> str:
    return f", when {lesson.slots.user} commands" if lesson.slots.user else ""
