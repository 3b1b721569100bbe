"""Which lessons "forget that", "forget what I told you about the mug" and "forget everything" are about."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.correction.memory.lesson import Lesson, State
from llm_planner.correction.memory.wording import gist
from llm_planner.language.grounding.words import similarity
from llm_planner.language.understanding.wording import FUNCTION_WORDS, words_of
from llm_planner.plan.edits import Scope

EVERYTHING = "everything"
_FILLERS = FUNCTION_WORDS | {"about", "what", "told", "said", "lesson", "lessons", "rule", "all", "any"}


def meant(lessons: Sequence[Lesson], about: str) -> tuple[Lesson, ...]:
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


def last_in_mind(lesson: Lesson) -> tuple[float, int]:
    """Of two lessons the one that was used or told last has the greater."""
    return (max(lesson.used, lesson.provenance.time), lesson.id)


def _case(lesson: Lesson) -> str:
    """What the lesson is about, and what it says, in our words."""
    slots = (lesson.slots, *lesson.things.values())
    return " ".join((*(word for item in slots for word in item.said.values()), gist(lesson))).replace("_", " ")


def _has(text: str, asked: Sequence[str]) -> bool:
    said = words_of(text)
    return all(any(similarity(word, other) or similarity(other, word) for other in said) for word in asked)
