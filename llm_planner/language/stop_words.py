"""Detection of "stop" and "go on" in an utterance without a language model."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum

from llm_planner.text import plain_text

# Words before the stop word: "hey robot, could you please just stop now".
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "ah argh hey hi just no now oh ok okay please quick quickly robot so wait well yo you can could would will "
        "must i said enough right alright all but and that is thats careful watch look out",
    )
)
_AFTER = frozenset(
    re.findall(
        r"\w+", "now please right there here it this that everything immediately at once robot arm the motion moving"
    )
)
_WORDS = frozenset(("abort", "freeze", "halt", "stop", "stopp", "whoa", "woah"))
_SHORT = 3  # words in an utterance up to which a misspelt stop counts
_SPELT = ("stop", "halt", "freeze", "abort", "stand", "still", "hold")
_WHOA = frozenset(("whoa", "woah"))
_PHRASES = (
    ("hold", "still"),
    ("stand", "still"),
    ("stay", "still"),
    ("stay", "where", "you", "are"),
    ("emergency", "stop"),
    ("e", "stop"),
    ("estop",),
)
_STAY = (("do", "not", "move"), ("dont", "move"))  # "don't move the bowl" is about the bowl
_THINGS = frozenset(re.findall(r"\w+", "the my your our his her their those these both left right up down so too"))
_CANCELLED = frozenset(re.findall(r"\w+", "that it this everything all now please immediately stop"))
_UNDONE = frozenset(re.findall(r"\w+", "change changes correction corrections edit lesson rule"))
_WORK = frozenset(re.findall(r"\w+", "plan task job program whole operation mission current"))
_AT_THE_END = re.compile(
    r"(?P<begun>.*?\w)[\s,.;:!?…—–-]+(?:(?:and|but|now|just|please)\s+)*"
    r"(?:stop|halt|freeze|hold still|stand still)(?:\s+(?:now|please|it|here|there|right))*[\s.!…]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_SPOKEN_OF = frozenset(
    re.findall(
        r"[\w']+",
        "don't dont not never no the a an this that to did do does you we they i bus tram without cannot can't why how "
        "when if please then",
    )
)
_ELSE = (("stop", "worrying"), ("stop", "by"), ("stop", "off"), ("stop", "over"), ("stop", "sign"), ("stop", "light"),
         ("stop", "watch"))  # fmt: skip
_A_MOMENT = re.compile(
    r"(?:stop|hold still|stand still|stay still|stay where you are)(?: for)?(?: just)? (?:a|one|half a) "
    r"(?:moment|minute|min|second|sec|bit|while|tick|breather)\b"
)


def _misspelt(word: str) -> frozenset[str]:
    """Return the word with one swapped, missing or doubled letter after the first."""
    inner = range(1, len(word))
    missing = {word[:at] + word[at + 1 :] for at in inner}
    doubled = {word[:at] + word[at] + word[at:] for at in inner}
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner if at + 1 < len(word)}
    return frozenset(missing | doubled | swapped) - {word}


_MISSPELT = {wrong: right for right in reversed(_SPELT) for wrong in _misspelt(right)}


class Stop(Enum):
    """Kind of stop in an utterance."""

    NONE = "none"
    EXCLAIMED = "exclaimed"  # "whoa, not so fast": an alarm with a further request
    AND_MORE = "and more"  # "stop, not that one": stand still at once, then read the rest
    OF_SOMETHING = "of something"  # "stop following her": the same, but perhaps only that activity should end
    ONLY = "only"  # "please stop now"


def heard_stop(text: str) -> Stop:
    """Classify the stop in an utterance.

    A stop word counts at the beginning or alone between two pauses, because a needless stop is harmless. "Don't stop"
    and talk that contains the word do not count.
    """
    plain = plain_text(text[:200]).lower().replace("'", "").replace("’", "")
    clauses = [re.findall(r"[a-z]+", clause) for clause in re.split(r"[.,;:!?…—–]+|\s-\s", plain)]
    if sum(map(len, clauses)) <= _SHORT:
        clauses = [[_MISSPELT.get(word, word) for word in clause] for clause in clauses]
    whole = [word for clause in clauses for word in clause]
    if not (_begins(whole) or _begins(clauses[0]) or any(map(_is_alone, clauses[1:]))):
        return Stop.NONE
    if _is_alone(whole) or all(map(_is_only_stop, clauses)):
        return Stop.ONLY
    ordered = any(_begins([word for word in words if word not in _WHOA]) for words in (whole, *clauses))
    if not ordered:
        return Stop.EXCLAIMED
    return Stop.AND_MORE if any(map(_is_alone, clauses)) else Stop.OF_SOMETHING


def is_stop(text: str) -> bool:
    """Return whether the utterance asks the robot to stand still now."""
    return heard_stop(text) is not Stop.NONE


def before_the_stop(text: str) -> str:
    """Return the words before a stop at the very end, such as "slower" in "slower and stop".

    Returns "" if the utterance does not end with a stop, or only mentions it ("don't stop", "the bus stop").
    """
    found = _AT_THE_END.match(plain_text(text[:200]))
    return found["begun"] if found and found["begun"].split()[-1].lower().strip(",;") not in _SPOKEN_OF else ""


def _inner(words: list[str], before: Collection[str], after: Collection[str] = ()) -> list[str]:
    """Return the words without leading ones of `before` and trailing ones of `after`."""
    while words and words[0] in before:
        words = words[1:]
    while words and words[-1] in after:
        words = words[:-1]
    return words


def _begins(words: list[str]) -> bool:
    """Return whether the words begin with a stop word, after any fillers."""
    words = _inner(words, _FILLERS)
    if not words or tuple(words[:2]) in _ELSE or _A_MOMENT.match(" ".join(words)):
        return False
    if words[0] == "cancel" and not _UNDONE & set(words[1:4]):
        return not words[1:] or words[1] in _CANCELLED or (words[1] == "the" and bool(_WORK & set(words[2:3])))
    if any(tuple(words[: len(phrase)]) == phrase and not _THINGS & set(words[len(phrase) :][:1]) for phrase in _STAY):
        return True
    return words[0] in _WORDS or any(tuple(words[: len(phrase)]) == phrase for phrase in _PHRASES)


def _is_only_stop(words: list[str]) -> bool:
    """Return whether the words are a stop, or only fillers around one."""
    return (
        _is_alone(words)
        or not set(words) - _FILLERS - _AFTER
        or (words[0] == "cancel" and not set(words[1:]) - _CANCELLED - _WORK - _AFTER)
    )


def _is_alone(words: list[str]) -> bool:
    """Return whether the words are a stop and nothing else."""
    words = _inner(words, _FILLERS, _AFTER)
    left = [word for word in words if word not in _FILLERS]
    return _begins(words) and (len(set(left)) == 1 or tuple(words) in (*_PHRASES, *_STAY))


GO_ON = "say “go on” to have the rest done"
_POLITE = frozenset(re.findall(r"\w+", "hey now ok okay please robot so then yes you can"))  # before or after the words
_GO_ON_WORDS = frozenset(
    ("go on", "continue", "carry on", "resume", "go on with it", "continue with it", "carry on with it", "resume it")
)


def is_go_on(text: str) -> bool:
    """Return whether the whole utterance asks to finish what was left undone.

    "Go on to the kitchen" and "continue the tour" are ordinary commands.
    """
    words = re.findall(r"[^\W_]+", plain_text(text[:200]).lower())
    return " ".join(_inner(words, _POLITE, _POLITE)) in _GO_ON_WORDS
