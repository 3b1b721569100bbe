"""Split text into words, and compare words that may be misspelt; units and numbers as they are said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

METRES = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
    **dict.fromkeys(("cm", "cms", "centimeter", "centimeters", "centimetre", "centimetres", "centi"), 0.01),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 0.001),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1000.0),
    **dict.fromkeys(("inch", "inches"), 0.0254),
    **dict.fromkeys(("foot", "feet", "ft"), 0.3048),
}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
NUMBERS = {word: float(value) for value, word in enumerate(f"{_SMALL} eighteen nineteen".split())}
NUMBERS |= {"twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "half": 0.5, "a": 1.0, "an": 1.0}

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
