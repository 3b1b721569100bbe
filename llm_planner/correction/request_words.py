"""A request in plain words that the rules read as the same: what a question offers to choose from."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.correction.requests import Intent, Request, Sense, Size, When
from llm_planner.plan.edits import Frame, Scope

_SIZES = {Size.BIT: "a bit ", Size.PLAIN: "", Size.MUCH: "much "}
_SCOPES = {Scope.TASK: "for now ", Scope.SESSION: "today ", Scope.ALWAYS: "from now on "}
_FIXED: Mapping[Intent, str] = {
    Intent.HOLD: "wait", Intent.RESUME: "go on", Intent.CANCEL: "forget the whole plan",
    Intent.SKIP_THIS: "skip this one", Intent.SKIP_REST: "skip everything after this one", Intent.UNDO: "undo that",
    Intent.YES: "yes", Intent.NO: "no",
}  # fmt: skip
_MORE_LESS: Mapping[Intent, tuple[str, str]] = {
    Intent.SPEED: ("go {}faster", "go {}slower"),
    Intent.HEIGHT: ("carry it {}higher", "carry it {}lower"),
    Intent.CLEARANCE: ("leave {}more room", "leave {}less room"),
    Intent.DURATION: ("wait {}longer", "wait {}shorter"),
}
_DISTANCES: Mapping[str, tuple[str, str]] = {
    "push": ("push it {}further", "push it {}less far"),
    "place": ("leave a {}wider gap", "leave a {}smaller gap"),
    "follow": ("follow {}further behind", "follow {}closer"),
    "": ("push it {}further", "push it {}less far"),
}
_RELATIONS = {"beside": "next to", "left": "to the left of", "right": "to the right of", "top": "behind",
              "bottom": "in front of", "at": "on", "opposite": "to the other side of"}  # fmt: skip
_DETERMINERS = frozenset(("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "all", "both",
                          "every", "each", "any", "it", "everything", "some", "one"))  # fmt: skip
_MEMORY = {Scope.ONCE: "just this once", Scope.TASK: "only for now", Scope.SESSION: "only for today",
           Scope.ALWAYS: "remember that"}  # fmt: skip


def in_words(request: Request) -> str:
    """The request in words, "" for what is no correction. A scope is said as well, what it is about is not."""
    said = _FIXED.get(request.intent) or _said(request)
    return f"{_SCOPES.get(request.scope, '')}{said}" if said and request.intent is not Intent.REMEMBER else said


def _said(request: Request) -> str:
    thing, target = _the(request.thing) or "it", _the(request.target)
    words: Mapping[Intent, str] = {
        Intent.SHIFT: _shift(request),
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
        Intent.ADD: f"{_when(request)} {request.text}",
        Intent.RULE: request.text,
        Intent.LIFT: request.text,
        Intent.REMEMBER: _MEMORY[request.scope],
        Intent.FORGET: _forget(request.about),
    }
    if request.intent in _MORE_LESS or request.intent is Intent.DISTANCE:
        return _quantity(request)
    return words.get(request.intent, "")


def _again(request: Request) -> str:
    thing = _the(request.thing)
    if request.number is not None:
        more = " more" if request.sense is Sense.MORE else ""
        return f"do {thing or 'that'} {request.number:g}{more} times"
    return f"{thing} as well" if thing else "do that again"


def _when(request: Request) -> str:
    is_next = request.when is When.NEXT
    if request.target:
        return f"{'before' if is_next else 'after'} {_the(request.target)}"
    return "first" if is_next else "then"


def _the(words: str) -> str:
    """Words for a thing with an article, where they have none of their own."""
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
    wordings = _MORE_LESS.get(request.intent) or _DISTANCES[request.text]
    wording = wordings[request.sense is Sense.LESS]
    return wording.format(f"{amount} " if amount else _SIZES[request.size])


def _shift(request: Request) -> str:
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


def _forget(about: str) -> str:
    return (
        "forget everything"
        if about == "everything"
        else f"forget what I told you about {about}"
        if about
        else "forget that"
    )
