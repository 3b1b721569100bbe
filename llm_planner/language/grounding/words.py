"""Split text into words, read lengths, and compare words that may be misspelt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

MAX_NGRAMS = 24  # of a word

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

QUANTITY = "<quantity>"
PLACEHOLDER = "#"  # begins what stands for a name
_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]", re.UNICODE)


@dataclass(frozen=True)
class Word:
    """One word of a command in lower case; `metres` is its length where it is a quantity, else 0.

    It stands at `start` to `end` in the command, in characters.
    """

    text: str
    metres: float = 0.0
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


def split_words(text: str) -> list[Word]:
    """Words of `text`: "Move it 5 cm left" gives move, it, <quantity> (0.05 m), left."""
    found = list(_TOKEN.finditer(text))
    tokens = [match[0].lower().replace("’", "'") for match in found]
    words: list[Word] = []
    index = 0
    while index < len(tokens):
        length, used = _quantity(tokens[index : index + 4])
        start, end = found[index].start(), found[index + max(0, used - 1)].end()
        words.append(Word(QUANTITY if used else tokens[index], length, start, end))
        index += used or 1
    return words


def _quantity(tokens: list[str]) -> tuple[float, int]:
    """Length [m] that starts here and how many tokens it takes: "twenty five cm", "half a metre", "5 inches"."""
    value, used = 0.0, 0
    while used < len(tokens) and (number := _number(tokens[used])) is not None:
        value = value * number if tokens[used] in ("a", "an") and used else value + number
        used += 1
    if used and used < len(tokens) and tokens[used] in METRES:
        return value * METRES[tokens[used]], used + 1
    return 0.0, 0


def _number(token: str) -> float | None:
    if token[0].isdecimal():
        return float(token.replace(",", "."))
    return NUMBERS.get(token)


@lru_cache(maxsize=65536)
def ngrams(word: str) -> tuple[str, ...]:
    """The word itself, and its stretches of 3 to 5 letters (as in fastText, arXiv:1607.04606)."""
    marked = f"<{word}>"
    grams = [word] + [marked[i : i + n] for n in (3, 4, 5) for i in range(len(marked) - n + 1)]
    return tuple(grams[:MAX_NGRAMS])


@lru_cache(maxsize=65536)
def similarity(word: str, name: str) -> float:
    """How well a typed word fits a word of a name, in [0, 1]; plurals fit, one slip of the finger fits less."""
    if word == name or (word.endswith("s") and word.rstrip("s") == name):
        return 1.0
    if word.startswith(PLACEHOLDER) or len(word) < 4 or len(name) < 4 or abs(len(word) - len(name)) > 2:
        return 0.0
    ratio = SequenceMatcher(None, word, name).ratio()
    return ratio if ratio >= 0.75 else 0.0
