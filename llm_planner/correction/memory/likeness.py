"""How alike words are, by the letters they share: what proposes lessons, and decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import sqrt

from llm_planner.correction.memory.lesson import Lesson, Slots
from llm_planner.language.understanding.wording import words_of

MOST_PROPOSED = 64  # lessons for one step
MOST_NGRAMS = 24  # of a word


def most_like(lessons: Iterable[Lesson], case: Slots, command: str) -> list[Lesson]:
    """The lessons that share words with the case or the command, the likest first and at most `MOST_PROPOSED`.

    Before them come those told of no kind of thing: they share no words, and hold wherever their slots fit.
    """
    here = _features(f"{_slot_words(case)} {command}")
    general, others = [], []
    for lesson in lessons:
        if not lesson.slots.kind:
            general.append(lesson)
        elif like := _likeness(_features(f"{_slot_words(lesson.slots)} {lesson.words}"), here):
            others.append((like, lesson))
    likest = sorted(others, key=lambda pair: -pair[0])[:MOST_PROPOSED]
    return general + [lesson for _, lesson in likest]


def _slot_words(slots: Slots) -> str:
    return " ".join(slots.said.values()).replace("_", " ")


@lru_cache(maxsize=4096)
def _features(text: str) -> frozenset[str]:
    """The n-grams of letters (fastText's, arXiv:1607.04606) of its words."""
    return frozenset(gram for word in words_of(text) for gram in _ngrams(word))


def _ngrams(word: str) -> list[str]:
    """The word itself, and its stretches of 3 to 5 letters."""
    marked = f"<{word}>"
    return [word, *(marked[i : i + n] for n in (3, 4, 5) for i in range(len(marked) - n + 1))][:MOST_NGRAMS]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The cosine between the two, 0 to 1."""
    return len(one & other) / sqrt(len(one) * len(other)) if one and other else 0.0
