"""The text form of requests, which the embedded model writes: `other_thing("blue one", instead="red one")`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from llm_planner.correction.requests import DIRECTIONS, OF_MOTION, RELATIONS, Intent, Request, Sense, Size, When
from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.embedded.forms import WORDS, Forms
from llm_planner.language.embedded.terms import Term, Value, Words
from llm_planner.language.grounding.amounts import read_amount
from llm_planner.plan.edits import Frame, Lifetime, Scope

_ALWAYS = ("scope=SCOPE?", "about=WORDS?", "lifetime=LIFETIME?")  # slots of every request that changes something
_AMOUNT = ("SENSE", "SIZE?", "by=AMOUNT?", "instead=AMOUNT?")  # in place of what it is
_WHERE = ("near=WORDS?", "carrying=WORDS?")  # a change of motion that binds only there, or then
_SLOTS: Mapping[Intent, tuple[str, ...]] = {
    Intent.SHIFT: ("DIRECTION", "SIZE?", "by=AMOUNT?", "frame=FRAME?", "thing=WORDS?", "target=WORDS?"),
    Intent.TOO_FAR: ("DIRECTION?",),
    Intent.SPEED: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.HEIGHT: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.CLEARANCE: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.DISTANCE: ("WHICH?", *_AMOUNT, "thing=WORDS?"),
    Intent.DURATION: (*_AMOUNT, "thing=WORDS?", "target=WORDS?"),
    Intent.OTHER_THING: ("WORDS?", "instead=WORDS?", "target=WORDS?", "how=RELATION?"),
    Intent.OTHER_TARGET: (
        "RELATION?",
        "DIRECTION?",
        "WORDS?",
        "by=AMOUNT?",
        "thing=WORDS?",
        "instead=WORDS?",
        "frame=FRAME?",
    ),
    Intent.FIRST: ("WORDS?", "ORDER?", "target=WORDS?"),
    Intent.LAST: ("WORDS?",),
    Intent.SKIP: ("WORDS?", "how=EXCEPT?"),
    Intent.SKIP_WAIT: ("WORDS?",),
    Intent.PUT_BACK: ("WORDS?",),
    Intent.ADD: ("WORDS", "WHEN?", "target=WORDS?"),
    Intent.AGAIN: ("WORDS?", "SENSE?", "by=AMOUNT?"),
    Intent.SWAP: ("WORDS?", "target=WORDS?"),
    Intent.RULE: ("WORDS",),
    Intent.LIFT: ("WORDS",),
    Intent.REMEMBER: ("SCOPE",),
    Intent.FORGET: ("EXTENT?", "about=WORDS?"),
    Intent.OPTION: ("OPTION",),
}
_ALONE = (Intent.HOLD, Intent.RESUME, Intent.CANCEL, Intent.REMEMBER, Intent.FORGET, Intent.UNDO, Intent.YES,
          Intent.NO, Intent.OPTION, Intent.NOTHING)  # fmt: skip
_MEASURED = (*OF_MOTION, Intent.DISTANCE, Intent.DURATION)
_FIRST_WORDS = {  # the slot of a request that words without a key are in
    Intent.OTHER_TARGET: "target", Intent.SKIP_WAIT: "target", Intent.ADD: "text", Intent.RULE: "text",
    Intent.LIFT: "text",
}  # fmt: skip
_KEYS = {"instead": "instead_of", "how": "relation", "carrying": "thing"}
_SHARES = {"twice": (2.0, "times"), "half": (0.5, "times"), "half_of": (50.0, "%"), "quarter_of": (25.0, "%"),
           "three_quarters_of": (75.0, "%")}  # fmt: skip
_TEXTS = {"WHICH": ("push", "place", "follow", "wait"), "OPTION": ("1", "2", "3", "last")}
_NUMBERED = {"1": "one", "2": "two", "3": "three"}  # names of terms are words


def _names(values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(values, ())


def _table() -> dict[str, dict[str, tuple[str, ...]]]:
    slots = {intent: (*_SLOTS.get(intent, ()), *(() if intent in _ALONE else _ALWAYS)) for intent in Intent}
    return {
        "REQUEST": {intent.value: slots[intent] for intent in Intent if intent is not Intent.NOTHING},
        "ALONE": {"nothing": (), "unclear": ()},
        "DIRECTION": _names(DIRECTIONS),
        "RELATION": _names(RELATIONS),
        "ORDER": _names(("before", "after")),
        "EXCEPT": _names(("except",)),
        "SENSE": _names([sense.value for sense in Sense]),
        "SIZE": _names(("bit", "much")),
        "AMOUNT": {"": (WORDS,), **_names(tuple(_SHARES))},
        "FRAME": _names(("robot", "object")),
        "WHICH": _names(_TEXTS["WHICH"]),
        "WHEN": _names(("next",)),
        "SCOPE": _names([scope.value for scope in Scope]),
        "EXTENT": _names(("everything",)),
        "LIFETIME": _names([lifetime.value for lifetime in Lifetime]),
        "OPTION": {"": (WORDS,), **_names([_NUMBERED.get(text, text) for text in _TEXTS["OPTION"]])},
    }


REQUESTS = Forms(_table(), ("REQUEST",), ("ALONE",))


def requests_of(terms: Sequence[Term], words: str) -> tuple[Request, ...]:
    """Turn a result into requests; `words` is all that was said. Raise LanguageModelError where it is none."""
    if terms[0].name == Intent.NOTHING.value:
        return (Request(Intent.NOTHING),)
    requests = tuple(map(_request, terms))
    return (_whole(requests[0], words),) if len(requests) == 1 else requests


def _request(term: Term) -> Request:
    intent = Intent(term.name)
    slots: dict[str, Any] = {}
    for key, (value,) in REQUESTS.filled("REQUEST", term).items():
        slots |= _slot(intent, key, value)
    scope = slots.get("scope", Scope.ONCE)
    if intent not in _ALONE:
        slots.setdefault("lifetime", Lifetime.STEP if scope is Scope.ONCE else Lifetime.PLAN)
    if intent is Intent.OTHER_THING:
        if slots.get("target"):
            slots.setdefault("relation", "for")
        slots["negated"] = bool(slots.get("instead_of")) and not slots.get("thing")
    return Request(intent, **slots)


def _slot(intent: Intent, key: str, value: Value) -> dict[str, Any]:
    said = value.text if isinstance(value, Words) else value.name
    if key in ("by", "AMOUNT"):
        return dict(zip(("number", "unit"), _amount(value), strict=True))
    if key == "instead" and intent in _MEASURED:
        return {"present": _amount(value)}
    if key == WORDS:
        return {_FIRST_WORDS.get(intent, "thing"): said}
    if key == "OPTION":
        return {"text": next((text for text, name in _NUMBERED.items() if name == said), said)}
    if key == "WHICH":
        return {"text": said}
    if key == "EXTENT":
        return {"about": said}
    if key == "ORDER":
        return {"relation": said}
    kinds: Mapping[str, type[Enum]] = {"SENSE": Sense, "SIZE": Size, "frame": Frame, "WHEN": When, "scope": Scope,
                                       "SCOPE": Scope, "lifetime": Lifetime}  # fmt: skip
    kind = kinds.get(key)
    return {_KEYS.get(key, key.lower()): kind(said) if kind else said}


def _amount(value: Value) -> tuple[float, str]:
    if isinstance(value, Term):
        return _SHARES[value.name]
    try:
        amount = read_amount(value.text.replace("-", " "), bare=True)
    except InputError as error:
        raise LanguageModelError(str(error)) from error
    return amount.number, amount.unit


def _whole(request: Request, words: str) -> Request:
    """Of how long, the text tells what: to wait or to follow; of what is to be left alone, all that was said."""
    if request.intent is Intent.DURATION:
        return replace(request, text=next((verb for verb in ("wait", "follow") if verb in words.split()), ""))
    return replace(request, text=words) if request.intent is Intent.SKIP else request
