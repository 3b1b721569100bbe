"""One clause of a correction: which phrase it is, and the request that this comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from llm_planner.correction.amounts import Amount, read_amount
from llm_planner.correction.clauses import (
    bare,
    has_scope,
    lasts,
    take_about,
    take_amount,
    take_contrast,
    take_scope,
    take_size,
    tidy,
    without_other_amount,
)
from llm_planner.correction.marking import Marked
from llm_planner.correction.patterns import spaced
from llm_planner.correction.phrases import Phrase, phrases
from llm_planner.correction.requests import Intent, Request, Size
from llm_planner.correction.slots import request_of
from llm_planner.plan.edits import Lifetime, Scope

FREE = frozenset((Intent.RULE, Intent.ADD, Intent.LIFT))  # with words that others read on
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))  # only while a question is open
_COMMAND_ALONE = "<command>"
_SIZED = frozenset((Intent.SHIFT, Intent.TOO_FAR, Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE, Intent.DISTANCE,
                    Intent.DURATION))  # fmt: skip
_CONTRASTED = frozenset((Intent.OTHER_THING, Intent.OTHER_TARGET))
_OF_THE_TASK = frozenset((*_SIZED, Intent.SKIP, Intent.FIRST, Intent.LAST, *_CONTRASTED, Intent.RULE, Intent.REMEMBER))


def read_clause(text: str, marked: Marked, asked: bool) -> Request | None:
    """The request in a clause with marks, None where a word of it belongs to no phrase; `asked`: a question is open."""
    plain = without_other_amount(tidy(text.replace(",", " ")))
    request = _read(plain, marked, asked)
    if request is not None and request.intent not in FREE:
        return request
    return _scoped(text, marked) or _contrasted(text, marked) or request or _negated(plain, marked)


def _read(text: str, marked: Marked, asked: bool) -> Request | None:
    """Phrases of which every word is fixed come before those with free words, and those before a bare command."""
    free: list[Request] = []
    alone: list[Request] = []
    for phrase, request in _requests(text, marked, asked):
        if free and free[0].intent is Intent.ADD and request.intent in _CONTRASTED:
            break  # "then go to the dock" is no other target
        if request.intent not in FREE:
            return request
        (alone if phrase.written == _COMMAND_ALONE else free).append(request)
    return next(iter((*free, *alone)), None)


def _requests(text: str, marked: Marked, asked: bool) -> Iterator[tuple[Phrase, Request]]:
    """What the text may ask for, as it is or with politeness and an amount taken off it."""
    unlikely: list[tuple[Phrase, Request]] = []  # "5 seconds" is hardly a gap
    for shorter in bare(text):
        for left, size, mark in _measured(shorter):
            for phrase, match in _matches(left):
                request = request_of(phrase, match, marked)
                if (asked or request.intent not in _ANSWERS) and _fits(request, size, mark):
                    request = _with_amount(request, size, marked.words_of(mark))
                    if _has_its_unit(request):
                        yield phrase, request
                    else:
                        unlikely.append((phrase, request))
    yield from unlikely


def _measured(text: str) -> Iterator[tuple[str, Size, str]]:
    """The text, also without an amount that it may have, and what that is."""
    yield text, Size.PLAIN, ""
    left, mark = take_amount(text)
    if mark:
        yield left, Size.PLAIN, mark
    left, size = take_size(text)
    if size is not Size.PLAIN:
        yield left, size, ""


def _matches(text: str) -> Iterator[tuple[Phrase, re.Match[str]]]:
    whole = spaced(text)
    words = frozenset(word for word in text.split() if word[0] not in "#@%$")
    for phrase in phrases():
        if match := phrase.match(whole, words):
            yield phrase, match


def _fits(request: Request, size: Size, mark: str) -> bool:
    """An amount that was said must be one that counts."""
    if size is Size.PLAIN and not mark:
        return True
    return request.intent in _SIZED and not (mark and request.number is not None)


def _has_its_unit(request: Request) -> bool:
    """Whether a length is said of what has one, and a time of what takes one."""
    if request.number is None:
        return True
    amount = Amount(request.number, request.unit)
    return not (
        (amount.is_length and request.intent in (Intent.DURATION, Intent.SPEED))
        or (amount.is_time and request.intent is not Intent.DURATION)
    )


def _with_amount(request: Request, size: Size, said: str) -> Request:
    if said:
        amount = read_amount(said)
        request = replace(request, number=amount.number, unit=amount.unit)
    return replace(request, size=size) if size is not Size.PLAIN else request


def _scoped(text: str, marked: Marked) -> Request | None:
    """A clause that says for how long, or of what, it holds; a time alone is something to remember."""
    without_about, about = take_about(text)
    left, scope = take_scope(without_about)
    if not bare(tidy(left.replace(",", " ")))[-1]:
        return Request(Intent.REMEMBER, scope=scope) if has_scope(text) and not about else None
    for shorter, of in ((left, about), (take_scope(text)[0], "")):
        request = read_clause(shorter, marked, asked=False) if shorter not in ("", text) else None
        if request is not None and request.intent in (_OF_THE_TASK if not of else _SIZED | {Intent.REMEMBER}):
            scope = Scope.ALWAYS if of and lasts(text) else scope
            lifetime = Lifetime.STEP if scope is Scope.ONCE else Lifetime.PLAN
            said = marked.words_of(of) if of[:1] == "#" else of
            return replace(request, scope=scope, about=said or request.about, lifetime=lifetime)
    return None


_NOT = re.compile(r"^(?:do not|not|never|please do not|there is no need to|you do not need to|no need to) ")


def _negated(text: str, marked: Marked) -> Request | None:
    """What shall not be changed: "don't go slower"."""
    for shorter in bare(text):
        if found := _NOT.match(shorter):
            request = _read(shorter[found.end() :], marked, asked=False)
            return replace(request, negated=True) if request is not None and request.intent in _SIZED else None
    return None


def _contrasted(text: str, marked: Marked) -> Request | None:
    """A clause that says what it shall not be as well; alone that is the same with nothing else to take."""
    left, mark = take_contrast(bare(text)[-1] if not take_contrast(text)[1] else text)
    if not mark:
        return None
    said = marked.words_of(mark)
    if not bare(left)[-1]:
        return Request(Intent.OTHER_THING, instead_of=said, negated=True)
    request = read_clause(left, marked, asked=False)
    if request is None or request.intent not in _CONTRASTED or request.instead_of:
        return None
    return replace(request, instead_of=said)
