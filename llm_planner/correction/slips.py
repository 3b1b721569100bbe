"""Slips of the finger: a word that is none, one letter off a word that is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import lru_cache

from llm_planner.correction.amounts import NUMBER_WORDS, UNITS
from llm_planner.correction.clauses import tidy
from llm_planner.correction.manners import words_in_manners
from llm_planner.correction.marking import COLOR_NAMES, MORE_NOUNS
from llm_planner.correction.patterns import COMMANDS
from llm_planner.correction.phrases import known_words
from llm_planner.language.compact.generator.lexicon import KIND_WORDS, REGIONS
from llm_planner.language.understanding.absent import ELSEWHERE, NOUNS
from llm_planner.world.scene import Scene

_USUAL = {"teh": "the", "hte": "the", "adn": "and", "nad": "and", "ot": "to"}
SHORTEST = 4  # letters; a shorter word is too near to too many others
_NO_VOWEL = re.compile(r"(?!tsk|hmm|mhm|mmm|shh|psh|pst|brr|grr|pff|hmf)[b-df-hj-np-tv-xz]{3}")  # but "skp" is none


@lru_cache(maxsize=1)
def english() -> frozenset[str]:
    """Words that are no slips, although no phrase has them: those that the reading network has learnt from."""
    from llm_planner.language.compact.constraints.reader import VOCABULARY, WEIGHTS  # which loads numpy

    learnt = (WEIGHTS / VOCABULARY).read_text(encoding="utf-8").split()
    return frozenset((*learnt, *NOUNS, *ELSEWHERE, *KIND_WORDS, *MORE_NOUNS))


def unknown(text: str) -> tuple[str, ...]:
    """Words of a `normal` text that no phrase has, nor the English that was learnt: of another language, maybe."""
    known = _fixed_words() | english()
    words = (word for word in text.split() if word.isalpha())
    return tuple(word for word in words if not known & {word, word.removesuffix("s")})


def corrected(text: str, scene: Scene) -> str:
    """The text with words that are unknown put right, where exactly one known word is a slip away."""
    rooms = scene.building.names if scene.building else ()
    names = {part for name in (*scene.names, *rooms) for part in name.lower().split()}
    known = _fixed_words() | names
    return tidy(" ".join(_right(word, known, names) for word in text.split()))


@lru_cache(maxsize=1)
def _fixed_words() -> frozenset[str]:
    """Those that the rules know whatever the scene."""
    places = (word for several in REGIONS.values() for phrase in several for word in phrase.split())
    commands = (word for command in COMMANDS for word in command.split())
    return known_words() | words_in_manners() | frozenset((*COLOR_NAMES, *UNITS, *NUMBER_WORDS, *places, *commands))


def _right(word: str, known: Iterable[str], names: Set[str]) -> str:
    """Of several words that it may be, that in the name of something here."""
    if word in _USUAL:
        return _USUAL[word]
    if (
        (len(word) < SHORTEST and not _NO_VOWEL.fullmatch(word))
        or not word.isalpha()
        or word in known
        or word in english()
        or word.removesuffix("s") in known
    ):
        return word
    least = SHORTEST if len(word) < SHORTEST else 0
    near = {other for other in known if other[:1] == word[:1] and len(other) >= least and one_slip(word, other)}
    near = near & names or near
    return near.pop() if len(near) == 1 else word


def one_slip(a: str, b: str) -> bool:
    """Whether one letter more, less, other, or two swapped, make one of the other (Damerau, 1964)."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[start:], b[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (len(a) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:])
