"""Words of requests: exact utterances that are read without a model, and the wording of requests in questions.

Reflexes must be instant and certain: hold, resume, undo, yes, no, options, plain motion changes. An utterance must
match as a whole; a language model reads all longer ones. `in_words` words a request so that the reader reads it as the
same request; questions offer these words as options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from llm_planner.errors import InputError
from llm_planner.language.correction_requests import (
    MOTION_QUANTITIES,
    QUANTITIES,
    Frame,
    Intent,
    Request,
    Scope,
    Sense,
    Size,
    When,
    quantity_of,
)
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
             "third": "3", "3rd": "3", "three": "3", "3": "3", "former": "1", "latter": "last",
             "last": "last"}  # fmt: skip
_WHICH = "first|1st|second|2nd|third|3rd|former|latter|last"
_OPTION = re.compile(rf"(?:the )?(?P<which>{_WHICH})(?: one| option)?|"
                     r"(?:option |number )?(?P<number>one|two|three|[123])")  # fmt: skip
_MOTION = {said: (Intent(name), sense) for name, quantity in MOTION_QUANTITIES.items()
           for sense in (Sense.MORE, Sense.LESS) for said in quantity.way(sense).reflexes}  # fmt: skip
_SIZE_WORDS = {"": Size.PLAIN, "a bit ": Size.BIT, "a little ": Size.BIT, "slightly ": Size.BIT, "much ": Size.MUCH,
          "a lot ": Size.MUCH, "way ": Size.MUCH}  # fmt: skip
_DIRECTIONS = {"left": "left", "right": "right", "up": "up", "down": "down", "forward": "forward",
               "forwards": "forward", "backward": "backward", "backwards": "backward"}  # fmt: skip
_SIZE = rf"(?P<size>{'|'.join(size for size in _SIZE_WORDS if size)}|)"
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
        return Request(intent, sense=sense, size=_SIZE_WORDS[change["size"] or f"{change['after'].strip()} ".lstrip()])
    return _shift(plain)


def ordinals(words: str) -> set[str]:
    """Return the numbers of options, or "last", that a text has in ordinal words; "a second" is a time."""
    return {_ORDINALS[which] for which in re.findall(rf"(?<!\ba )(?<!\bone )\b(?:{_WHICH})\b", plain_words(words))}


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
        return Request(Intent.SHIFT, direction=direction, size=_SIZE_WORDS[found["size"]])
    try:
        amount = read_amount(found["amount"].strip())
    except InputError:
        return None
    if not amount.is_length:
        return None
    return Request(Intent.SHIFT, direction=direction, number=amount.number, unit=amount.unit)


_SIZES = {Size.BIT: "a bit ", Size.PLAIN: "", Size.MUCH: "much "}
_SCOPES = {Scope.TASK: "for now ", Scope.SESSION: "today ", Scope.ALWAYS: "from now on "}
_FIXED: Mapping[Intent, str] = {
    Intent.HOLD: "wait", Intent.RESUME: "go on", Intent.CANCEL: "forget the whole plan",
    Intent.SKIP_THIS: "skip this one", Intent.SKIP_REST: "skip everything after this one", Intent.UNDO: "undo that",
    Intent.YES: "yes", Intent.NO: "no",
}  # fmt: skip
_DISTANCES = {  # of other steps than a push
    "place": ("leave a {}wider gap", "leave a {}smaller gap"), "follow": ("follow {}further behind", "follow {}closer"),
}  # fmt: skip
_RELATIONS = {"beside": "next to", "left": "to the left of", "right": "to the right of", "top": "behind",
              "bottom": "in front of", "at": "on", "opposite": "to the other side of"}  # fmt: skip
_DETERMINERS = frozenset(("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "all", "both",
                          "every", "each", "any", "it", "everything", "some", "one"))  # fmt: skip
_MEMORY = {Scope.ONCE: "just this once", Scope.TASK: "only for now", Scope.SESSION: "only for today",
           Scope.ALWAYS: "remember that"}  # fmt: skip


def in_words(request: Request) -> str:
    """Word a request, with its scope but without `about`; "" if it is not a correction."""
    said = _FIXED.get(request.intent) or _said(request)
    return f"{_SCOPES.get(request.scope, '')}{said}" if said and request.intent is not Intent.REMEMBER else said


def _said(request: Request) -> str:
    thing, target = _the(request.thing) or "it", _the(request.target)
    is_next = request.when is When.NEXT
    when = ("before" if is_next else "after") if target else ("first" if is_next else "then")
    told = "everything" if request.about == "everything" else f"what I told you about {request.about}"
    words: Mapping[Intent, str] = {
        Intent.SHIFT: _shift_in_words(request),
        Intent.TOO_FAR: " ".join(filter(None, ("too far", request.direction))),
        Intent.OTHER_THING: f"take {thing} instead" if request.thing else f"not {_the(request.instead_of)}",
        Intent.OTHER_TARGET: _target(request),
        Intent.FIRST: f"do {thing} {request.relation} {target}" if request.relation else f"do {thing} first",
        Intent.LAST: f"do {thing} last" if request.thing else "leave it for last",
        Intent.SKIP: f"skip {'everything except ' if request.relation else ''}{_the(request.thing)}",
        Intent.SKIP_WAIT: f"do not wait at {target}" if target else "do not wait",
        Intent.AGAIN: _again(request),
        Intent.SWAP: f"{thing} and {target} the other way round" if request.target else "the other one first",
        Intent.PUT_BACK: f"put {thing} back",
        Intent.ADD: f"{when} {target} {request.text}" if target else f"{when} {request.text}",
        Intent.RULE: request.text,
        Intent.LIFT: request.text,
        Intent.REMEMBER: _MEMORY[request.scope],
        Intent.FORGET: f"forget {told if request.about else 'that'}",
    }
    if quantity_of(request.intent):
        return _quantity(request)
    return words.get(request.intent, "")


def _again(request: Request) -> str:
    thing = _the(request.thing)
    if request.number is not None:
        more = " more" if request.sense is Sense.MORE else ""
        return f"do {thing or 'that'} {request.number:g}{more} times"
    return f"{thing} as well" if thing else "do that again"


def _the(words: str) -> str:
    """Add an article to words without a determiner."""
    first = words.split(" ")[0].lower()
    return f"the {words}" if words and first not in _DETERMINERS and not first[:1].isdigit() else words


def _quantity(request: Request) -> str:
    amount = f"{request.number:g} {request.unit}" if request.number is not None else ""
    if request.sense is Sense.NORMAL:
        return "normal speed"
    if request.sense is Sense.EXACT:
        verb = {"push": "push it", "place": "leave", "follow": "stay behind by", "wait": "wait"}.get(
            request.text, "make it"
        )
        return f"go at {amount}" if request.intent is Intent.SPEED else f"{verb} {amount.strip()}"
    wording = QUANTITIES[quantity_of(request.intent)].way(request.sense).request
    if request.intent is Intent.DISTANCE and request.text in _DISTANCES:
        wording = _DISTANCES[request.text][request.sense is Sense.LESS]
    return wording.format(f"{amount} " if amount else _SIZES[request.size])


def _shift_in_words(request: Request) -> str:
    amount = f"{request.number:g} {request.unit} " if request.number is not None else _SIZES[request.size]
    if request.direction in ("towards", "away"):
        return f"{amount}{request.direction}{' from' if request.direction == 'away' else ''} {_the(request.target)}"
    side = request.direction in ("left", "right")
    if request.frame is Frame.ROBOT:
        ways = {"forward": "away from you", "backward": "towards you"}
        return f"{amount}{f'to your {request.direction}' if side else ways.get(request.direction, request.direction)}"
    ways = {"opposite": "the other way", "more": "further"}
    return f"{amount}{f'to the {request.direction}' if side else ways.get(request.direction, request.direction)}"


def _target(request: Request) -> str:
    if request.relation == "direction":
        return f"push it {request.direction} instead"
    relation = _RELATIONS.get(request.relation, request.relation or "in")
    gap = f"{request.number:g} {request.unit} " if request.number is not None else ""
    return f"put {_the(request.thing) or 'it'} {gap}{relation} {_the(request.target)} instead"
