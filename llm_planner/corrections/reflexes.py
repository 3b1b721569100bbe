"""Reader of reflexes, which must be instant and certain: hold, resume, undo, yes, no, options, plain motion changes.

An utterance must match as a whole. A language model reads all longer ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Intent, Request, Sense, Size
from llm_planner.language.grounding.lifting import read_amount

_POLITE = frozenset(("please", "ok", "okay", "now", "robot", "thanks", "hey", "um", "uh", "er", "so", "just"))
_WHOLE: Mapping[Intent, tuple[str, ...]] = {
    Intent.HOLD: ("wait", "wait a moment", "wait a second", "wait a minute", "hold", "hold on", "hold it", "hang on",
                  "pause", "one moment", "one second"),
    Intent.RESUME: ("go on", "continue", "carry on", "resume", "proceed", "keep going", "go ahead"),
    Intent.UNDO: ("undo", "undo that", "undo it", "take that back"),
    Intent.FORGET: ("forget that",),
    Intent.YES: ("yes", "yeah", "yep", "yup", "sure", "ok", "okay", "right", "correct", "exactly", "yes do it"),
    Intent.NO: ("no", "nope", "nah", "no don't", "neither"),
}  # fmt: skip
_INTENTS = {words: intent for intent, several in _WHOLE.items() for words in several}
_ANSWERS = (Intent.YES, Intent.NO)
_ORDINALS = {"first": "1", "1st": "1", "one": "1", "1": "1", "second": "2", "2nd": "2", "two": "2", "2": "2",
             "third": "3", "3rd": "3", "three": "3", "3": "3", "last": "last"}  # fmt: skip
_OPTION = re.compile(r"(?:the )?(?P<which>first|1st|second|2nd|third|3rd|last)(?: one| option)?|"
                     r"(?:option |number )?(?P<number>one|two|three|[123])")  # fmt: skip
_MOTION = {"faster": (Intent.SPEED, Sense.MORE), "slower": (Intent.SPEED, Sense.LESS),
           "speed up": (Intent.SPEED, Sense.MORE), "slow down": (Intent.SPEED, Sense.LESS),
           "higher": (Intent.HEIGHT, Sense.MORE), "lower": (Intent.HEIGHT, Sense.LESS)}  # fmt: skip
_SIZES = {"": Size.PLAIN, "a bit ": Size.BIT, "a little ": Size.BIT, "slightly ": Size.BIT, "much ": Size.MUCH,
          "a lot ": Size.MUCH, "way ": Size.MUCH}  # fmt: skip
_DIRECTIONS = {"left": "left", "right": "right", "up": "up", "down": "down", "forward": "forward",
               "forwards": "forward", "backward": "backward", "backwards": "backward"}  # fmt: skip
_SIZE = rf"(?P<size>{'|'.join(size for size in _SIZES if size)}|)"
_CHANGE = re.compile(rf"(?:go |move )?{_SIZE}(?P<motion>{'|'.join(_MOTION)})(?P<after> a bit| a little| a lot|)")
_SHIFT = re.compile(
    rf"(?:go |move it |move )?(?:{_SIZE}|(?P<amount>[\w. ]+? ))(?:more )?(?:to (?:the|your|my) )?"
    rf"(?P<direction>{'|'.join(_DIRECTIONS)})"
)


def read_reflex(words: str, asked: bool) -> Request | None:
    """Return the request that the whole utterance makes, None for none; answers count only if `asked`."""
    plain = plain_words(words)
    intent = _INTENTS.get(plain)
    if intent in _ANSWERS and not asked:
        return None
    if intent is not None:
        return Request(intent)
    if asked and (option := _OPTION.fullmatch(plain)):
        return Request(Intent.OPTION, text=_ORDINALS[option["which"] or option["number"]])
    if change := _CHANGE.fullmatch(plain):
        intent, sense = _MOTION[change["motion"]]
        return Request(intent, sense=sense, size=_SIZES[change["size"] or f"{change['after'].strip()} ".lstrip()])
    return _shift(plain)


def plain_words(words: str) -> str:
    """Return the words in lower case, without punctuation and without polite words at either end."""
    said = re.findall(r"[\w'%]+(?:\.\d+)?", words.lower().replace("’", "'"))
    polite = [word in _POLITE for word in said]
    while len(said) > 1 and polite[0]:
        said, polite = said[1:], polite[1:]
    while len(said) > 1 and polite[-1]:
        said, polite = said[:-1], polite[:-1]
    return " ".join(said)


def _shift(plain: str) -> Request | None:
    found = _SHIFT.fullmatch(plain)
    if found is None or " your " in plain or " my " in plain:  # a model decides whose left is meant
        return None
    direction = _DIRECTIONS[found["direction"]]
    if found["amount"] is None:
        return Request(Intent.SHIFT, direction=direction, size=_SIZES[found["size"]])
    try:
        amount = read_amount(found["amount"].strip())
    except InputError:
        return None
    if not amount.is_length:
        return None
    return Request(Intent.SHIFT, direction=direction, number=amount.number, unit=amount.unit)
