"""How much: numbers with units as people say them, and what "a bit" is worth.

"A bit" is a share of the size of what is moved, and half of what came before where the direction turns round.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from llm_planner.correction.requests import Size
from llm_planner.errors import InputError
from llm_planner.language.grounding.lifting import SECONDS
from llm_planner.language.grounding.words import METRES, NUMBERS
from llm_planner.world.scene import Scene, SceneObject

SHARES: Mapping[Size, float] = {Size.BIT: 0.5, Size.PLAIN: 1.0, Size.MUCH: 2.0}  # of the size of what is moved
SMALLEST = 0.02  # [m] that a thing counts as
NO_THING = 0.04  # [m] that the size is where nothing is taken or held
BASE = 0.4  # [m] that it is for a mobile robot

_PERCENT = ("%", "percent", "per cent")
_TIMES = ("times", "x")
_TENS = {"sixty": 60.0, "seventy": 70.0, "eighty": 80.0, "ninety": 90.0, "hundred": 100.0}
_PARTS = {"quarter": 0.25, "quarters": 0.25}
_SETS = {"couple": 2.0, "dozen": 12.0}
_MULTIPLYING = ("a", "an", "hundred", *_SETS)
NUMBER_WORDS = {**NUMBERS, **_TENS, **_PARTS, **_SETS, "one": 1.0, "another": 1.0}
_ADVERBS = {"thrice": "three times", "twice": "two times"}
LENGTHS = {**METRES, **dict.fromkeys(("hand's width", "hand's breadth"), 0.1)}
TIMES = {**SECONDS, **dict.fromkeys(("h", "hour", "hours"), 3600.0)}
SPEEDS = {f"{unit}{per}": size for unit, size in METRES.items() for per in ("/s", " per second", " a second")}
UNITS: Mapping[str, float] = {  # in metres, seconds, metres a second, or as a factor; "" is a number alone
    **LENGTHS, **TIMES, **SPEEDS, **dict.fromkeys(_PERCENT, 0.01), **dict.fromkeys(_TIMES, 1.0), "": 1.0,
}  # fmt: skip
_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_AND_PART = "(?: and (?:a )?(?:half|quarter))?"
_NUMBER = rf"(?:(?:\d+ )?\d+/[1-9]\d*|\d+(?:[.,]\d+)?){_AND_PART}"
_COUNT = rf"(?:(?:{_WORDS})(?: (?:{_WORDS}))*{_AND_PART})"
_UNIT = "|".join(sorted(map(re.escape, filter(None, UNITS)), key=len, reverse=True))
_MORE = "(?:more|extra|additional|further)"
_ROUND = "(?:whole|full|good|bare)"
_BETWEEN = f"(?:of an|of a|of|{_ROUND}|{_MORE})"
_MOMENT = r"(?!(?:an?|one) (?:s|secs?|seconds?|mins?|minutes?)\b)"  # "a second" is no second
AMOUNT = re.compile(
    rf"(?<![\w.,])(?<![-−])(?<![-−] ){_MOMENT}(?P<count>{_NUMBER} ?|{_COUNT} )(?:{_BETWEEN} )?(?P<unit>{_UNIT})(?!\w)"
    r"(?: and a (?P<part>half|quarter)(?! of\b))?"
)


@dataclass(frozen=True)
class Amount:
    """A number and its unit, one of `UNITS`."""

    number: float
    unit: str

    @property
    def value(self) -> float:
        """In metres, seconds or metres a second, or a factor."""
        return self.number * UNITS[self.unit]

    @property
    def is_length(self) -> bool:
        return self.unit in LENGTHS

    @property
    def is_time(self) -> bool:
        return self.unit in TIMES

    @property
    def is_speed(self) -> bool:
        return self.unit in SPEEDS


def read_amount(words: str, bare: bool = False) -> Amount:
    """The amount that the words are: "2 cm", "half an inch", "30 percent"; where it may be `bare`, a number alone.

    Raises InputError for other words.
    """
    words = _ADVERBS.get(words, words)
    found = AMOUNT.fullmatch(words)
    if found is None and bare:  # words that are said to be an amount: "a minute", "about 8 cm", "ten"
        said = re.sub(r"\b(?:an?|one) (?=(?:secs?|seconds?|mins?|minutes?)\b)", "1 ", words)
        unit = re.sub(f"^{_ROUND} ", "", said)
        said = f"1 {unit}" if unit in UNITS else said  # "minute", "full minute": the article was left out
        inside = list(AMOUNT.finditer(words)) or list(AMOUNT.finditer(said))
        found = inside[0] if len(inside) == 1 else None
        numbers = [
            one for one in re.findall(rf"(?<![\w.,])(?:{_NUMBER}|{_COUNT})(?!\w)", said) if one not in ("a", "an")
        ]
        if not inside and len(numbers) == 1:
            return Amount(_count(numbers[0]), "")
    if found is None:
        raise InputError(f"{words!r} is no amount; say a number and a unit, such as 2 cm")
    part = NUMBER_WORDS[found["part"]] if found["part"] else 0.0
    return Amount(_count(found["count"].strip()) + part, found["unit"])


def _count(said: str) -> float:
    """ "twenty five" adds up, "half a" and "a hundred" multiply."""
    said, part = [*re.split(r" and (?:a )?(?=half|quarter)", said), ""][:2]
    if said[0].isdigit():
        return float(sum(map(Fraction, said.replace(",", ".").split()))) + (NUMBER_WORDS[part] if part else 0.0)
    value = 0.0
    for word in said.removeprefix("another ").split():
        number = NUMBER_WORDS[word]
        value = value * number if value and (word in _MULTIPLYING or number < 1) else value + number
    return value + (NUMBER_WORDS[part] if part else 0.0)


def thing_size(item: SceneObject | None, scene: Scene) -> float:
    """What an amount without a number is a share of [m]: the smaller of the thing's horizontal extents."""
    if scene.building is not None:
        return BASE
    return max(SMALLEST, min(item.size[:2])) if item is not None else NO_THING


def shift_length(size: Size, amount: Amount | None, reference: float, reversed_from: float = 0.0) -> float:
    """How far to go [m, rounded to a millimetre]: as it was said; else by the size of the thing, `reference` [m].

    `reversed_from` is the length of the shift before where this one goes against it [m], else 0: half of that is gone
    back, unless much was asked for.
    """
    if amount is not None:
        return round(amount.value, 3)
    if reversed_from and size is not Size.MUCH:
        return round(reversed_from / 2, 3)
    return round(SHARES[size] * reference, 3)
