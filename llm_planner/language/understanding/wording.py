"""Words of a command that carry meaning, for comparing tasks and finding omissions, and names in words and formulas.

Words such as "not", "only", "then", "until" and every number carry meaning; politeness and articles do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from llm_planner.ltl.formula import Formula
from llm_planner.scene.propositions import parse_proposition
from llm_planner.scene.scene import Scene

POLITE = frozenset(
    re.findall(
        r"\w+",
        "please kindly thanks thank hello hi hey robot ok okay just now well so and but also too can could will would "
        "you i id like want to me for a an the try sure make",
    )
)
FUNCTION_WORDS = POLITE | frozenset(
    re.findall(
        r"\w+",
        "it its this that these those they them he she him her his my your our us we of in on at by with from into "
        "onto as is are be been am was were being do does did doing have has had having shall should must may might "
        "need needs there here thats while meanwhile whatever happens way time",
    )
)
_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the and never this that these those it its with from into onto your please every each which where while until "
        "before after then them there away dont least most than within keep stay staying",
    )
)  # words that are rare in other languages
TYPING_ERROR = 0.8  # similarity from which words of four or more letters count as misspellings of each other


def words_of(text: str) -> tuple[str, ...]:
    """Split text into lower-case words and numbers without punctuation; "don't" is one word."""
    return tuple(re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", re.sub(r"['’]", "", text.lower())))


def plain(text: str) -> str:
    """Normalise text to its `words_of` with single spaces."""
    return " ".join(words_of(text))


def same_task(text: str) -> tuple[str, ...]:
    """Return a key that is equal for tasks that differ only in case, punctuation, articles and politeness."""
    return tuple(word for word in words_of(text) if word not in POLITE)


def is_english(text: str) -> bool:
    """Return whether a text has an English function word, so that checks of English words apply."""
    return not _ENGLISH.isdisjoint(words_of(text))


def names_left_over(command: str, names: Iterable[str], parts: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers and full `names` that a command has and none of the `parts`, in any language."""
    covered = plain(" ".join(parts))
    said = plain(command)
    named = [name for name in names if re.search(rf"\b{re.escape(plain(name))}\b", said)]
    numbers = re.findall(r"\d+(?:\.\d+)?", said)
    return tuple(dict.fromkeys(one for one in (*named, *numbers) if plain(one) not in covered))


def left_over(command: str, parts: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a command that carry meaning and are in none of the `parts`, in order.

    Similar words count as equal, since both may have typing errors.
    """
    covered = {word for part in parts for word in words_of(part)}
    meant = (word for word in words_of(command) if not any(_swapped(word, other) for other in FUNCTION_WORDS))
    return tuple(word for word in dict.fromkeys(meant) if not any(_alike(word, other) for other in covered))


def _swapped(word: str, other: str) -> bool:
    """Return whether words are equal up to the order of letters; "no" and "on" differ."""
    return word == other or (len(word) > 2 and sorted(word) == sorted(other))


def _alike(word: str, other: str) -> bool:
    if _swapped(word, other):
        return True
    return min(len(word), len(other)) > 3 and SequenceMatcher(a=word, b=other).ratio() >= TYPING_ERROR


def arguments_of(formula: Formula) -> tuple[str, ...]:
    """Return every object, place and skill in the propositions of a formula, once each."""
    found = (parse_proposition(name).arguments for name in formula.propositions)
    return tuple(dict.fromkeys(one for some in found for one in some))


def names_in(text: str, scene: Scene) -> list[str]:
    """Return the objects and rooms whose full names are in a `plain` text, in order; longer names take precedence."""
    rooms = scene.building.names if scene.building else ()
    places: dict[int, str] = {}
    for name in sorted((*scene.names, *rooms), key=len, reverse=True):
        pattern = rf"\b{re.escape(plain(name))}\b"
        for found in re.finditer(pattern, text):
            places[found.start()] = name
        text = re.sub(pattern, lambda found: "_" * len(found[0]), text)
    return [places[start] for start in sorted(places)]
