"""Lifting of commands: finds the names and amounts in a command (arXiv:2302.11649).

"Go to the laboratory in 5 s" becomes go, to, the, a room called lab, in, and 5 seconds. Amounts are read as people say
them: "forty-five seconds", "a couple of metres", "half a dozen", "30 percent".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_planner.errors import InputError
from llm_planner.language.grounding.naming import Phrase, Word, similarity, split_words, stems

_SMALL = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: float(n) for n, word in enumerate(_SMALL.split(), 1)}
_PARTS = {"half": 0.5, "quarter": 0.25, "quarters": 0.25}
_SETS = {"couple": 2.0, "dozen": 12.0, "hundred": 100.0}
WHOLE_NUMBERS = {
    "zero": 0.0, **_ONES, **{word: float(n) for n, word in enumerate(_TEENS.split(), 10)},
    **{word: 10.0 * n for n, word in enumerate(_TENS.split(), 2)},
}  # fmt: skip
_NUMBERS = {**WHOLE_NUMBERS, **_PARTS, **_SETS, "a": 1.0, "an": 1.0, "another": 1.0}
LENGTHS = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
    **dict.fromkeys(("cm", "cms", "centimeter", "centimeters", "centimetre", "centimetres", "centi"), 0.01),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 0.001),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1000.0),
    **dict.fromkeys(("inch", "inches"), 0.0254),
    **dict.fromkeys(("foot", "feet", "ft"), 0.3048),
    **dict.fromkeys(("hand's width", "hand's breadth"), 0.1),
}
TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
_SLIPS = {  # typing errors in longer units: a missing letter, or two exchanged letters
    slip: unit
    for unit in (*LENGTHS, *TIMES)
    if len(unit) > 5 and unit.isalpha()
    for n in range(1, len(unit))
    for slip in (unit[:n] + unit[n + 1 :], unit[:n] + unit[n + 1 : n + 2] + unit[n] + unit[n + 2 :])
    if slip not in LENGTHS and slip not in TIMES
}
SPEEDS = {f"{unit}/{period}": LENGTHS[unit] / TIMES[period] for unit in LENGTHS for period in TIMES}
UNITS: Mapping[str, float] = {  # [m], [s], [m/s] or a factor; "" for a bare number
    **LENGTHS, **TIMES, **SPEEDS, **dict.fromkeys(("%", "percent", "per cent"), 0.01),
    **dict.fromkeys(("times", "x"), 1.0), "": 1.0,
}  # fmt: skip


def in_si(number: float, unit: str) -> tuple[float, str]:
    """Return a number of a unit in "m", "s" or "m/s", and that; as it is if the unit measures nothing of these."""
    for table, of_si in ((LENGTHS, "m"), (TIMES, "s"), (SPEEDS, "m/s")):
        if unit in table:
            return number * table[unit], of_si
    return number, unit


def _one_of(words: Mapping[str, float]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)


_AND_PART = r"(?: +and (?:a )?(?:half|quarter)\b)?"
_NEXT = (  # "forty five", "a hundred and five", "half a", "two dozen"
    rf"(?: +(?:{_one_of({**_PARTS, **_SETS})})|(?:(?<=half)|(?<=quarter)) +an?|(?<=ty) +(?:{_one_of(_ONES)})"
    rf"|(?:(?<=hundred)(?: +and)?|(?<=another)) +(?:{_one_of(WHOLE_NUMBERS)}))"
)
_DIGITS = rf"(?:(?:\d+ )?\d+/[1-9]\d*|\d+(?:[.,]\d+)?){_AND_PART}"
_COUNT = rf"(?:(?:{_one_of(_NUMBERS)})\b(?:{_NEXT}\b){{0,6}}{_AND_PART})"
_ROUND = "(?:whole|full|good|bare)"
_AMOUNT_BETWEEN = f"(?:of an|of a|of|{_ROUND}|more|extra|additional|further)"
_UNIT = _one_of({**{unit: size for unit, size in UNITS.items() if unit not in SPEEDS}, **dict.fromkeys(_SLIPS, 0.0)})
_PER = rf"(?: ?/ ?| (?:per|an?|each|every) )(?P<period>{_one_of(TIMES)})(?! time)\b"  # not "2 m a second time"
_AMOUNT = (
    rf"(?P<count>{_DIGITS} *|{_COUNT} +)(?:{_AMOUNT_BETWEEN} +)?"
    rf"(?:(?P<length>{_one_of(LENGTHS)}){_PER}|(?P<unit>{_UNIT})(?!\w))(?: and a (?P<part>half|quarter)\b(?! of\b))?"
)
_MOMENT = r"(?!(?:an?|one) (?:s|secs?|seconds?|mins?|minutes?)\b)"  # "a second" is vague, not an amount
_HERE = re.compile(_AMOUNT)
_NUMBER = re.compile(rf"{_DIGITS}|{_COUNT}")
_ALONE = re.compile(rf"(?<![\w.,])(?:{_DIGITS}|{_COUNT})(?!\w)")
_SAID = re.compile(rf"(?<![\w.,])(?<![-−])(?<![-−] ){_MOMENT}{_AMOUNT}")
_HYPHEN = re.compile(rf"\b({_TENS.replace(' ', '|')})[-‐‑](?=(?:{_one_of(_ONES)})\b)")
_ADVERBS = {"thrice": "three times", "twice": "two times"}


@dataclass(frozen=True)
class Amount:
    """Number with its unit, one of `UNITS`."""

    number: float
    unit: str

    def __str__(self) -> str:
        return f"{self.number:g} {self.unit}"

    @property
    def value(self) -> float:
        """Value in SI units [m], [s] or [m/s], or a factor."""
        return self.number * UNITS[self.unit]

    @property
    def segment(self) -> str:
        """Class of a segment with this amount: "speed", "quantity" (a length), "seconds" or "number"."""
        return "speed" if self.is_speed else "quantity" if self.is_length else "seconds" if self.is_time else "number"

    @property
    def is_length(self) -> bool:
        return self.unit in LENGTHS

    @property
    def is_time(self) -> bool:
        return self.unit in TIMES

    @property
    def is_speed(self) -> bool:
        return self.unit in SPEEDS


def spelled(words: str) -> str:
    """Normalise words for amounts without a change of length: "Forty-five" becomes "forty five"."""
    lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in words).replace("’", "'")
    return _HYPHEN.sub(r"\1 ", re.sub(r"\s", " ", lowered))


def amount_at(words: str, start: int) -> tuple[Amount, int] | None:
    """Read the amount at an offset of `spelled` words, else a bare number; return it with its end offset."""
    if (found := _HERE.match(words, start)) and ((said := _amount(found)).is_length or said.is_time or said.is_speed):
        return said, found.end()
    if found := _NUMBER.match(words, start):
        return Amount(_count(found[0]), ""), found.end()
    return None


def amounts_in(words: str) -> list[tuple[str, Amount]]:
    """Find all numbers with units; return the text and the amount of each."""
    return [(found[0], _amount(found)) for found in _SAID.finditer(spelled(words))]


def read_amount(words: str, bare: bool = False) -> Amount:
    """Read words as an amount: "2 cm", "half an inch", "30 percent".

    Args:
        words: Text of the amount.
        bare: Whether a bare number, a single amount within other words and "a minute" also count.

    Raises:
        InputError: The words are not an amount.
    """
    words = spelled(_ADVERBS.get(words, words))
    found = _SAID.fullmatch(words)
    if found is None and bare:  # words known to be an amount: "a minute", "about 8 cm", "ten"
        said = re.sub(r"\b(?:an?|one) (?=(?:secs?|seconds?|mins?|minutes?)\b)", "1 ", words)
        unit = re.sub(f"^{_ROUND} ", "", said)
        said = f"1 {unit}" if unit in UNITS else said  # "minute", "full minute" without an article
        inside = list(_SAID.finditer(words)) or list(_SAID.finditer(said))
        found = inside[0] if len(inside) == 1 else None
        numbers = [one for one in _ALONE.findall(said) if one not in ("a", "an")]
        if not inside and len(numbers) == 1:
            return Amount(_count(numbers[0]), "")
    if found is None:
        raise InputError(f"{words!r} is not an amount; say a number and a unit, such as 2 cm")
    return _amount(found)


def _amount(found: re.Match[str]) -> Amount:
    part = _NUMBERS[found["part"]] if found["part"] else 0.0
    unit = _SLIPS.get(found["unit"], found["unit"]) or f"{found['length']}/{found['period']}"
    return Amount(_count(found["count"].strip()) + part, unit)


def _count(said: str) -> float:
    """Evaluate number words: "twenty five" adds, "half a" and "a hundred" multiply."""
    said, part = [*re.split(r" +and (?:a )?(?=half|quarter)", said), ""][:2]
    more = _NUMBERS[part] if part else 0.0
    if said[0].isdigit():
        parts = (one.partition("/") for one in said.replace(",", ".").split())
        return sum(float(above) / float(below or 1) for above, _, below in parts) + more
    value = 0.0
    for word in said.removeprefix("another ").replace(" and ", " ").split():
        number = _NUMBERS[word]
        value = value * number if value and (word in ("a", "an", *_SETS) or number < 1) else value + number
    return value + more


_BETWEEN = frozenset(["is", "are", "the", "a", "be", "been", "gets", "being", "was", "has", "to"])
_BEFORE_A_TIME = frozenset(
    ["for", "within", "in", "after", "than", "least", "most", "wait", "about", "under", "another"]
)
_LETTERS = 4  # shorter words are not corrected
_ALIKE = 0.8


@dataclass(frozen=True)
class Lifted:
    """Segment of a command: a word, or the words of a name or an amount.

    Attributes:
        text: Words of the segment, in lower case.
        segment: Class: that of a `Phrase`, "quantity", "seconds", "speed", "number" or "word".
        start: First character in the command.
        end: Character after the last.
        name: Key of the phrase; "" for other segments.
        plural: Whether it names several objects.
        value: Amount [m], [s], [m/s] or a bare number.
    """

    text: str
    segment: str
    start: int
    end: int
    name: str = ""
    plural: bool = False
    value: float = 0.0


@dataclass(frozen=True)
class _Match:
    phrase: Phrase
    used: int
    plural: bool


def lift(command: str, phrases: Sequence[Phrase] = (), slips: bool = True) -> list[Lifted]:
    """Split a command into segments with their names and amounts.

    Args:
        command: Text of the command.
        phrases: Names to find.
        slips: Whether misspelt words count as names.
    """
    words, spelt = split_words(command), spelled(command)
    lifted: list[Lifted] = []
    index = 0
    while index < len(words):
        match = _named_at(words, index, phrases, slips)
        segment, value, used = (match.phrase.entry, 0.0, match.used) if match else _plain(words, index, spelt)
        name, plural = (match.phrase.key, match.plural) if match else ("", False)
        said = words[index : index + used]
        text = " ".join(word.text for word in said)
        lifted.append(Lifted(text, segment, said[0].start, said[-1].end, name, plural, value))
        index += used
    return lifted


def _named_at(words: list[Word], index: int, phrases: Sequence[Phrase], slips: bool) -> _Match | None:
    for loosely in (False, True) if slips and len(words[index].text) >= _LETTERS else (False,):
        found = [m for phrase in phrases if (m := _match(words, index, phrase, loosely)) is not None]
        if found:
            return max(found, key=lambda match: (len(match.phrase.parts), -match.used, not match.plural))
    return None


def _match(words: list[Word], index: int, phrase: Phrase, slips: bool) -> _Match | None:
    at = index
    plural = False
    for number, part in enumerate(phrase.parts):
        while number and at < len(words) and words[at].text in _BETWEEN and words[at].text not in part and phrase.loose:
            at += 1
        for taken in (1, 2):  # "tool box" is the toolbox
            text = "".join(word.text for word in words[at : at + taken])
            if len(words) >= at + taken and (fit := _fits(text, part, phrase.loose, slips and taken == 1)):
                break
        else:
            return None
        plural = fit == "plural"
        at += taken
    if plural and phrase.entry == "object":
        return None  # "red blocks" are not the red block
    return _Match(phrase, at - index, plural and phrase.entry == "kind")


def _fits(word: str, part: tuple[str, ...], loose: bool, slips: bool) -> str:
    """Return how a typed word matches a part of a name: "", "exact" or "plural"."""
    if word in part or (word.endswith("'s") and word[:-2] in part):
        return "exact"
    if any(word in (name + "s", name + "es", name[:-1] + "ies") for name in part if len(name) > 1):
        return "plural"
    if loose and any(stems(word) & stems(name) for name in part if len(name) > 2):
        return "exact"
    if not slips or len(word) < _LETTERS:
        return ""
    names = [name for name in part if len(name) >= _LETTERS]
    if any(similarity(word, name) >= _ALIKE for name in names):
        return "exact"
    return "plural" if word.endswith("s") and any(similarity(word, f"{name}s") >= _ALIKE for name in names) else ""


def _plain(words: list[Word], index: int, text: str) -> tuple[str, float, int]:
    """Classify a segment without a name: its class, its value (0 for a word) and its number of words."""
    word, before = words[index].text, words[index - 1].text if index else ""
    found = amount_at(text, words[index].start)
    if found is None:
        return "word", 0.0, 1
    amount, end = found
    used = sum(one.start < end for one in words[index:])
    is_ordinal = text[words[index].start : end] in ("a second", "one second") and before not in _BEFORE_A_TIME
    if amount.segment != "number" and not is_ordinal:
        return amount.segment, amount.value, used
    is_number = not is_ordinal and (word[0].isdecimal() or WHOLE_NUMBERS.get(word, 0.0) > 1)  # "one" may be an object
    return ("number", amount.number, used) if is_number else ("word", 0.0, 1)
