"""Lifts a command: finds what it names, whatever the names are, and its amounts (arXiv:2302.11649).

"Go to the laboratory in 5 s" becomes go, to, the, a room called lab, in, and 5 seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.language.grounding.amounts import WHOLE_NUMBERS, amount_at, spelled
from llm_planner.language.grounding.naming import Phrase, stems
from llm_planner.language.grounding.words import Word, similarity, split_words

_BETWEEN = frozenset(["is", "are", "the", "a", "be", "been", "gets", "being", "was", "has", "to"])
_BEFORE_A_TIME = frozenset(
    ["for", "within", "in", "after", "than", "least", "most", "wait", "about", "under", "another"]
)
_LETTERS = 4  # a shorter word is no slip of the finger for another
_ALIKE = 0.8


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
    """How a typed word stands for a part of a name: "", "exact" or "plural"."""
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
    """What names nothing: its class, its value where it is a number or an amount, and how many words it takes."""
    word, before = words[index].text, words[index - 1].text if index else ""
    found = amount_at(text, words[index].start)
    if found is None:
        return "word", 0.0, 1
    amount, end = found
    used = sum(one.start < end for one in words[index:])
    is_ordinal = text[words[index].start : end] in ("a second", "one second") and before not in _BEFORE_A_TIME
    segment = "speed" if amount.is_speed else "quantity" if amount.is_length else "seconds" if amount.is_time else ""
    if segment and not is_ordinal:
        return segment, amount.value, used
    is_number = not is_ordinal and (word[0].isdecimal() or WHOLE_NUMBERS.get(word, 0.0) > 1)  # "one" may be a thing
    return ("number", amount.number, used) if is_number else ("word", 0.0, 1)
