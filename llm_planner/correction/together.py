"""The requests of one utterance as what they are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.correction.clause_reader import FREE
from llm_planner.correction.requests import OF_MOTION, Intent, Request, Sense

_CHOOSING = (Intent.OTHER_THING, Intent.OTHER_TARGET)
_QUANTITIES = (Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE, Intent.DISTANCE, Intent.DURATION)
_ORDERING = (Intent.FIRST, Intent.LAST)
_GIVING_UP = tuple(f"do not {verb} " for verb in ("take", "pick", "grab", "get", "fetch", "bring", "use"))
_LISTED = (*OF_MOTION, Intent.SHIFT, Intent.SKIP, Intent.FIRST, Intent.LAST)


def together(found: Sequence[Request]) -> tuple[Request, ...]:
    """The requests of one utterance as what they are together: a complaint says what the next one shall not be, a
    pronoun means what was spoken of before, and what is said twice is asked for once."""
    asking: list[Request] = []
    for request in found:
        before = asking[-1] if asking else None
        if before is not None and before.negated and before.intent in _CHOOSING and request.intent in _CHOOSING:
            asking.pop()
            request = replace(request, instead_of=request.instead_of or before.instead_of)
        elif before is not None and _is_bound(request, before):
            asking.pop()
            request = _bound(before, request)
        elif before is not None and (_is_complaint(request) or _is_contrast(request, before)):
            continue
        elif before is not None and _is_listed(request, before):
            request = replace(before, thing="" if before.about else request.thing, about=before.about and request.thing)
        elif before is not None and _is_given_up(before, request):
            asking.pop()
            request = replace(request, instead_of=before.thing)
        elif before is not None and _is_exact_instead(before, request):
            asking.pop()
        elif before is not None and before.direction == "away" and request.direction == "forward":
            asking.pop()  # "it is too close to the vase, move it away"
            request = replace(before, size=request.size, number=request.number, unit=request.unit)
        elif before is not None and request.intent in _ORDERING and not request.thing and before.thing:
            request = replace(request, thing=before.thing, text=before.text)
        if request.intent is not Intent.NOTHING and not any(_says_the_same(request, other) for other in asking):
            asking.append(request)
    return _without_interjection(asking) or (Request(Intent.NOTHING),)


def _without_interjection(asking: Sequence[Request]) -> tuple[Request, ...]:
    """ "Wait, do the mug first" is no order to wait."""
    first, *others = asking or (Request(Intent.NOTHING),)
    interjected = first.intent is Intent.HOLD and others and others[0].intent is not Intent.RESUME
    return tuple(others) if interjected else tuple(asking)


def _is_bound(request: Request, before: Request) -> bool:
    """ "Slower, but not with the mug", "higher, but only the vase": of what it is to be, and of what it is not."""
    not_with = (
        request.intent is Intent.OTHER_THING and request.negated and bool(request.instead_of) and not request.text
    )
    only_with = request.intent is Intent.SKIP and request.relation == "except" and bool(request.thing)
    return before.intent in OF_MOTION and (not_with or only_with)


def _bound(before: Request, request: Request) -> Request:
    if before.about or before.thing:  # that is a bound already
        return before
    if request.intent is Intent.SKIP:
        return replace(before, thing=request.thing)
    return replace(before, instead_of=request.instead_of)


def _is_listed(request: Request, before: Request) -> bool:
    """ "Slower with the mug and the vase", "skip the mug and the vase": the same of another thing."""
    bare = request.intent is Intent.OTHER_THING and request.text == request.thing and not request.negated
    return bare and before.intent in _LISTED and bool(before.about or before.thing) and not before.relation


def _is_complaint(request: Request) -> bool:
    """ "That is the wrong one" does not say which is right."""
    return request.intent is Intent.OTHER_THING and request.negated and bool(request.text)


def _is_given_up(before: Request, request: Request) -> bool:
    """ "Don't take the red one, take the blue one" is about one errand."""
    given_up = before.intent is Intent.SKIP and before.text.startswith(_GIVING_UP)
    return given_up and request.intent is Intent.OTHER_THING and not request.instead_of and not request.negated


def _is_exact_instead(before: Request, request: Request) -> bool:
    """ "Too slow, normal speed again" says first what is wrong."""
    exact = request.sense in (Sense.NORMAL, Sense.EXACT) and request.intent in _QUANTITIES
    return exact and before.intent is request.intent and before.number is None


def _is_contrast(request: Request, before: Request) -> bool:
    """ "Left, not right" is one shift."""
    sided = before.direction or before.relation
    return request.intent is Intent.SHIFT and request.negated and sided not in ("", request.direction)


def _says_the_same(request: Request, other: Request) -> bool:
    """Of what is free in its words, by those as well: two commands are two things to do."""
    if request.intent is other.intent is Intent.PUT_BACK and not request.thing:
        return True  # "it" is what was named before
    return replace(request, text="") == replace(other, text="") and (
        request.intent not in FREE or request.text == other.text
    )
