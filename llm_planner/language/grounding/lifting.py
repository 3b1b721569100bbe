"""Lifts a command: what it names becomes a placeholder, as in Lang2LTL's lifted translation (arXiv:2302.11649).

"Go to the lab, then to the kitchen" becomes "go to the #room1 , then to the #room2". The network so never sees a name,
and reads a building that nobody has built yet like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_planner.language.grounding.naming import Phrase, stems
from llm_planner.language.grounding.words import NUMBERS, Word, similarity, split_words

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
}
PERIODS = {**SECONDS, **dict.fromkeys(("h", "hour"), 3600.0)}
_PER = frozenset(["/", "per", "a", "an", "each", "every"])
_PLACEHOLDER = re.compile(r"#([a-z]+)(\d+)s?")
_BETWEEN = frozenset(["is", "are", "the", "a", "be", "been", "gets", "being", "was", "has", "to"])
_BEFORE_A_TIME = frozenset(
    ["for", "within", "in", "after", "than", "least", "most", "wait", "about", "under", "another"]
)
_AND_A_HALF = ["and", "a", "half"]
_LETTERS = 4  # a shorter word is no slip of the finger for another
_ALIKE = 0.8
PLAIN_NUMBERS = {word: value for word, value in NUMBERS.items() if value == int(value) and value > 1}


@dataclass(frozen=True)
class Lifted:
    """A word, or what stands for one or several: its class, its number where it is one, its place in the command."""

    text: str
    segment: str = "word"
    value: float = 0.0
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Sentence:
    """A lifted command: its words, and per class what they name, in the order of first mention."""

    words: tuple[Lifted, ...]
    named: Mapping[str, tuple[str, ...]]

    def meaning(self, text: str) -> tuple[str, str]:
        """The class and the name that a placeholder stands for; two empty texts for any other word."""
        match = _PLACEHOLDER.fullmatch(text)
        return (match[1], self.named[match[1]][int(match[2]) - 1]) if match else ("", "")


@dataclass(frozen=True)
class _Match:
    phrase: Phrase
    used: int
    plural: bool


def lift(command: str, phrases: Sequence[Phrase], slips: bool = True) -> Sentence:
    """The lifted command; with `slips` words that are nearly a name stand for it."""
    words = split_words(command)
    named: dict[str, dict[str, int]] = {}
    lifted: list[Lifted] = []
    index = 0
    while index < len(words):
        match = _named_at(words, index, phrases, slips)
        if match is None:
            word, used = _plain(words, index)
            lifted.append(word)
        else:
            used, group = match.used, named.setdefault(match.phrase.entry, {})
            number = group.setdefault(match.phrase.key, len(group) + 1)
            text = f"#{match.phrase.entry}{number}{'s' if match.plural else ''}"
            lifted.append(Lifted(text, "word", 0.0, words[index].start, words[index + used - 1].end))
        index += used
    return Sentence(tuple(lifted), {name: tuple(keys) for name, keys in named.items()})


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


def _plain(words: list[Word], index: int) -> tuple[Lifted, int]:
    """A word that names nothing: itself, or a number, a length or a time."""
    word = words[index]
    if word.metres:
        time, used = _per(words[index + 1 : index + 4])
        if used:
            return Lifted("#speed", "speed", word.metres / time, word.start, words[index + used].end), 1 + used
        return Lifted("#quantity", "quantity", word.metres, word.start, word.end), 1
    seconds, used = _seconds([one.text for one in words[index : index + 5]])
    before = words[index - 1].text if index else ""
    if used and not (words[index + 1].text == "second" and word.text in ("a", "one") and before not in _BEFORE_A_TIME):
        return Lifted("#seconds", "seconds", seconds, word.start, words[index + used - 1].end), used
    value = _number(word.text)
    if value is not None:
        return Lifted("#number", "number", value, word.start, word.end), 1
    return Lifted(word.text, "word", 0.0, word.start, word.end), 1


def _per(words: Sequence[Word]) -> tuple[float, int]:
    """What makes a length a speed, "/s", "per minute", "a second": the time [s], and how many words it takes."""
    texts = [word.text for word in words]
    if len(texts) < 2 or texts[0] not in _PER or texts[1] not in PERIODS or texts[1:] == ["second", "time"]:
        return 0.0, 0
    return PERIODS[texts[1]], 2


def _seconds(texts: list[str]) -> tuple[float, int]:
    """A time that begins here, and how many words it takes: "20 s", "half a minute", "one and a half minutes"."""
    value = 0.5 if texts[0] == "half" else 1.0 if texts[0] in ("a", "one") else _number(texts[0])
    if value is None:
        return 0.0, 0
    used = 1
    if texts[0] == "half" and texts[1:2] == ["a"]:
        used = 2
    elif texts[1:4] == _AND_A_HALF:
        value, used = value + 0.5, 4
    if texts[used : used + 1] and texts[used] in SECONDS:
        more = 0.5 if texts[used + 1 : used + 4] == _AND_A_HALF else 0.0
        return (value + more) * SECONDS[texts[used]], used + (4 if more else 1)
    return 0.0, 0


def _number(text: str) -> float | None:
    return float(text.replace(",", ".")) if text[0].isdecimal() else PLAIN_NUMBERS.get(text)
