"""Split text into words, and compare words that may be misspelt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]", re.UNICODE)


@dataclass(frozen=True)
class Word:
    """One word of a command in lower case; it stands at `start` to `end` in the command, in characters."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Words of `text`: "Move it 5cm" gives move, it, 5, cm."""
    return [Word(match[0].lower().replace("’", "'"), *match.span()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=65536)
def similarity(word: str, name: str) -> float:
    """How well a typed word fits a word of a name, in [0, 1]; plurals fit, one slip of the finger fits less."""
    if word == name or (word.endswith("s") and word.rstrip("s") == name):
        return 1.0
    if len(word) < 4 or len(name) < 4 or abs(len(word) - len(name)) > 2:
        return 0.0
    ratio = SequenceMatcher(None, word, name).ratio()
    return ratio if ratio >= 0.75 else 0.0
