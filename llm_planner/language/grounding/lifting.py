"""Lifts a command: finds what it names, whatever the names are, and its amounts (arXiv:2302.11649).

"Go to the laboratory in 5 s" becomes go, to, the, a room called lab, in, and 5 seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.language.grounding.naming import Phrase, stems
from llm_planner.language.grounding.words import METRES, NUMBERS, Word, similarity, split_words

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
}
PERIODS = {**SECONDS, **dict.fromkeys(("h", "hour"), 3600.0)}
_PER = frozenset(["/", "per", "a", "an", "each", "every"])
_BETWEEN = frozenset(["is", "are", "the", "a", "be", "been", "gets", "being", "was", "has", "to"])
_BEFORE_A_TIME = frozenset(
    ["for", "within", "in", "after", "than", "least", "most", "wait", "about", "under", "another"]
)
_AND_A_HALF = ["and", "a", "half"]
_LETTERS = 4  # a shorter word is no slip of the finger for another
_ALIKE = 0.8
_UNITS = {unit: (segment, size) for segment, units in (("quantity", METRES), ("seconds", SECONDS))
          for unit, size in units.items()}  # fmt: skip
_AGAIN = ["second", "time"]
_LONGEST = 10  # words of an amount


@dataclass(frozen=True)
class Lifted:
    """A word, or several that are a name or an amount: its class ("word" for none), and its place in the command.

    `name` is what it names, `plural` if it names several; `value` is the number of an amount.
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
    """The lifted command; with `slips` words that are nearly a name stand for it."""
    words = split_words(command)
    lifted: list[Lifted] = []
    index = 0
    while index < len(words):
        match = _named_at(words, index, phrases, slips)
        segment, value, used = (match.phrase.entry, 0.0, match.used) if match else _plain(words, index)
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
        if at >= len(words) or not (fit := _fits(words[at].text, part, phrase.loose, slips)):
            return None
        plural = fit == "plural"
        at += 1
    if plural and phrase.entry == "object":
        return None  # "red blocks" are not the red block
    return _Match(phrase, at - index, plural and phrase.entry == "kind")


def _fits(word: str, part: tuple[str, ...], loose: bool, slips: bool) -> str:
    """How a typed word stands for a part of a name: "", "exact" or "plural"."""
    if word in part or (word.endswith("'s") and word[:-2] in part):
        return "exact"
    if any(word in (name + "s", name + "es", name[:-1] + "ies") for name in part if len(name) > 1):
        return "plural"
    if loose and any(stems(word) & stems(name) for name in part if len(name) > 2):
        return "exact"
    if not slips or len(word) < _LETTERS:
        return ""
    return "exact" if any(len(name) >= _LETTERS and similarity(word, name) >= _ALIKE for name in part) else ""


def _plain(words: list[Word], index: int) -> tuple[str, float, int]:
    """What names nothing: its class, its value where it is a number or an amount, and how many words it takes."""
    texts = [word.text for word in words[index : index + _LONGEST]]
    segment, value, used = _amount(texts)
    before = words[index - 1].text if index else ""
    is_ordinal = texts[:2] in (["a", "second"], ["one", "second"]) and before not in _BEFORE_A_TIME  # "a second one"
    if segment and not is_ordinal:
        return segment, value, used
    return ("number", *_number(texts)) if _is_number(texts[0]) else ("word", 0.0, 1)


def _amount(texts: list[str]) -> tuple[str, float, int]:
    """A number with a unit that begins here: its class, "" for none, its value, and how many words it takes."""
    value, used = _number(texts)
    if used and texts[used : used + 3] == _AND_A_HALF:
        value, used = value + 0.5, used + 3
    unit = texts[used] if 0 < used < len(texts) else ""
    if unit not in _UNITS:
        return "", 0.0, 0
    segment, size = _UNITS[unit]
    used += 1
    if texts[used : used + 3] == _AND_A_HALF:
        value, used = value + 0.5, used + 3
    per = texts[used : used + 3]
    if segment == "quantity" and len(per) > 1 and per[0] in _PER and per[1] in PERIODS and per[1:] != _AGAIN:
        return "speed", value * size / PERIODS[per[1]], used + 2
    return segment, value * size, used


def _number(texts: list[str]) -> tuple[float, int]:
    """A number that begins here, and how many words it takes, 0 for none: "2.5", "twenty five", "half a"."""
    first, *rest = texts
    if first[0].isdecimal():
        return float(first.replace(",", ".")), 1
    if first not in NUMBERS:
        return 0.0, 0
    if first == "half":
        return 0.5, 2 if rest[:1] in (["a"], ["an"]) else 1
    if rest[:1] == ["half"] and first in ("a", "an"):
        return 0.5, 2
    if NUMBERS[first] >= 20 and rest and 1 <= NUMBERS.get(rest[0], 0) < 10 and rest[0] not in ("a", "an"):
        return NUMBERS[first] + NUMBERS[rest[0]], 2
    return NUMBERS[first], 1


def _is_number(text: str) -> bool:
    """Whether a word is a number by itself; "one" and "a" may stand for things."""
    return text[0].isdecimal() or (text in NUMBERS and NUMBERS[text] not in (0.0, 0.5, 1.0))
