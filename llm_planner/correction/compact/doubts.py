"""What a network must not get wrong is checked word by word: directions, more or less, and what was named.

To a network "faster" and "slower" are alike; a reading that the words speak against loses most of its probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_planner.correction.antecedents import OF_RULES, PRONOUNS
from llm_planner.correction.compact.hearing import Heard
from llm_planner.correction.requests import Intent, Request, Sense
from llm_planner.language.compact.words import similarity

DOUBT = 0.2  # what the probability is multiplied by for each thing that speaks against a reading
REACH = 5  # words within which something is taken back
_WAYS: Mapping[str, frozenset[str]] = {  # no such direction without one of its words
    "left": frozenset(("left", "leftwards", "leftward")),
    "right": frozenset(("right", "rightwards", "rightward")),
    "up": frozenset(("up", "upwards", "upward", "higher", "raise", "lift", "high", "above")),
    "down": frozenset(("down", "downwards", "downward", "lower", "deeper", "low", "below")),
}
_FAST = frozenset(("faster", "quicker", "quickly", "hurry", "fast", "quick"))
_SLOW = frozenset(("slower", "slowly", "slow", "gently", "careful", "carefully"))
_TURNED = frozenset(("not", "too", "less", "no", "never", "without", "as", "stop", "twice", "half"))
_TAKEN_BACK = frozenset(("no", "not", "wait", "sorry", "mean", "meant", "rather", "oops", "scratch", "instead", "make"))
_NAMED = ("color", "room", "thing")
_NAMING = frozenset((Intent.OTHER_THING, Intent.OTHER_TARGET, Intent.FIRST, Intent.LAST, Intent.SKIP, Intent.PUT_BACK,
                     Intent.ADD, Intent.RULE, Intent.LIFT, Intent.FORGET))  # fmt: skip


def doubt(requests: Sequence[Request], words: Sequence[Heard]) -> float:
    """A factor in (0, 1]: 1 where nothing that was said speaks against the reading."""
    said = [word.text for word in words]
    wrong = sum(_wrong_way(request, said) or _wrong_sense(request, said) for request in requests)
    left_out = len(_left_out(requests, words)) if any(request.intent in _NAMING for request in requests) else 0
    factor: float = DOUBT ** (wrong + min(left_out, 2))
    return factor


def _wrong_way(request: Request, said: Sequence[str]) -> bool:
    """Whether it goes a way that was not named."""
    ways = _WAYS.get(request.direction)
    return ways is not None and not any(similarity(word, way) > 0 for word in said for way in ways)


def _wrong_sense(request: Request, said: Sequence[str]) -> bool:
    """Whether it is to go faster where "slower" was said and nothing turns it round, or the other way."""
    if request.intent is not Intent.SPEED or request.sense not in (Sense.MORE, Sense.LESS) or _TURNED & {*said}:
        return False
    against, for_it = (_SLOW, _FAST) if request.sense is Sense.MORE else (_FAST, _SLOW)
    return bool(against & {*said}) and not for_it & {*said}


def _left_out(requests: Sequence[Request], words: Sequence[Heard]) -> set[str]:
    """Colours, things and rooms that no request speaks of, although they were said and not taken back. Of a rule about
    "it" they are what that stands for."""
    if any(one.intent in OF_RULES and {*PRONOUNS} & {*one.text.split()} for one in requests):
        return set()
    slots = ((one.thing, one.instead_of, one.target, one.about, one.text) for one in requests)
    spoken = {word for texts in slots for text in texts for word in text.split()}
    return {
        word.text
        for place, word in enumerate(words)
        if word.segment in _NAMED and (word.said or word.text) not in spoken and not _is_taken_back(words, place)
    }


def _is_taken_back(words: Sequence[Heard], place: int) -> bool:
    return any(word.text in _TAKEN_BACK for word in words[place + 1 : place + 1 + REACH])
