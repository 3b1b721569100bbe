"""What derivations come to: requests, with the person's words in their slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llm_planner.correction.amounts import read_amount
from llm_planner.correction.clauses import bare
from llm_planner.correction.compact.grammar import REQUESTS, SLOTS
from llm_planner.correction.compact.hearing import Heard, said_from
from llm_planner.correction.requests import Intent, Request, Sense, Size, When
from llm_planner.correction.slots import command_said, timed
from llm_planner.language.compact.grammar import Node, Pointer, Step
from llm_planner.plan.edits import Frame, Lifetime, Scope

_SHARES: Mapping[str, tuple[float, str]] = {  # amounts that are said without a number
    "twice": (2.0, "times"), "half": (0.5, "times"), "half_of": (50.0, "%"), "quarter_of": (25.0, "%"),
    "three_quarters_of": (75.0, "%"),
}  # fmt: skip
_ROBOTS = "robot_"  # begins a direction along the robot's axes


def requests_of(steps: Sequence[Step], words: Sequence[Heard]) -> tuple[Request, ...]:
    """The requests of a complete derivation under `REQUESTS`, in the order in which they were said."""
    root = REQUESTS.build_tree(list(steps))
    if root.step == "nothing":
        return (Request(Intent.NOTHING),)
    lasting, listed = root.children
    scope = Scope(_choice(lasting))
    about = _span(lasting.children[0], words) if lasting.children else ""
    lifetime = Lifetime.STEP if scope is Scope.ONCE else Lifetime.PLAN
    found = []
    while True:
        request = _request(listed.children[0], words)
        if request.intent is not Intent.REMEMBER:
            request = replace(request, scope=scope, lifetime=lifetime, about=request.about or about)
        found.append(request)
        if listed.step == "last_request":
            return (_whole(request, words),) if len(found) == 1 else tuple(found)
        listed = listed.children[1]


def _request(node: Node, words: Sequence[Heard]) -> Request:
    intent = Intent(_choice(node))
    if intent is Intent.REMEMBER:
        return Request(intent, scope=Scope(_choice(node.children[0])))
    slots: dict[str, Any] = {}
    for symbol, child in zip(SLOTS.get(intent, ()), node.children, strict=True):
        slots.update(_READ[symbol](child, words))
    if intent is Intent.OTHER_THING:
        slots["relation"] = "for" if slots["target"] else ""
        slots["negated"] = bool(slots["instead_of"]) and not slots["thing"]
    elif intent is Intent.ADD:
        slots["text"] = command_said(slots["text"], "")
    return Request(intent, **slots)


def _whole(request: Request, words: Sequence[Heard]) -> Request:
    """Of what is to be left out the text tells whether it was forbidden: "do not touch the mug"; of how long, what."""
    said = said_from(words, 0, len(words))
    if request.intent is Intent.DURATION:
        return replace(request, text=timed(said))
    return replace(request, text=bare(said)[-1]) if request.intent is Intent.SKIP else request


def _choice(node: Node) -> str:
    return str(node.step).partition(":")[2]


def _span(node: Node, words: Sequence[Heard]) -> str:
    """The words that it points at, "" where nothing was said. Pointers the wrong way round are both meant."""
    if not node.children:
        return ""
    first, last = (child.step.index for child in node.children if isinstance(child.step, Pointer))
    return said_from(words, min(first, last), max(first, last))


def _direction(node: Node, words: Sequence[Heard]) -> dict[str, Any]:
    choice = _choice(node)
    frame = Frame.ROBOT if choice.startswith(_ROBOTS) else Frame.PERSON
    target = {"target": _span(node.children[0], words)} if node.children else {}
    return {"direction": choice.removeprefix(_ROBOTS), "frame": frame, **target}


def _relation(node: Node, words: Sequence[Heard]) -> dict[str, Any]:
    pushed = _direction(node.children[0], words) if node.children else {}
    return {"relation": "" if _choice(node) == "unsaid" else _choice(node), **pushed}


def _size(node: Node, words: Sequence[Heard]) -> dict[str, Any]:
    if isinstance(node.step, Pointer):
        amount = read_amount(words[node.step.index].said)
        return {"number": amount.number, "unit": amount.unit}
    choice = _choice(node)
    if choice in _SHARES:
        number, unit = _SHARES[choice]
        return {"number": number, "unit": unit}
    return {"size": Size(choice)}


def _said(slot: str) -> Callable[[Node, Sequence[Heard]], dict[str, Any]]:
    return lambda node, words: {slot: _span(node, words)}


def _chosen(slot: str, unsaid: str = "") -> Callable[[Node, Sequence[Heard]], dict[str, Any]]:
    return lambda node, words: {slot: "" if _choice(node) == unsaid else _choice(node)}


_READ: Mapping[str, Callable[[Node, Sequence[Heard]], dict[str, Any]]] = {
    "DIRECTION": _direction,
    "SIZE": _size,
    "SENSE": lambda node, words: {"sense": Sense(_choice(node))},
    "WHICH": _chosen("text", "any"),
    "RELATION": _relation,
    "WAY": _chosen("direction", "unsaid"),
    "ORDER": _chosen("relation", "alone"),
    "WHEN": lambda node, words: {"when": When(_choice(node))},
    "NUMBER": _chosen("text"),
    "EXTENT": lambda node, words: {"about": "everything"} if _choice(node) == "all" else {},
    "THING": _said("thing"),
    "INSTEAD": _said("instead_of"),
    "TARGET": _said("target"),
    "TEXT": _said("text"),
    "ABOUT": lambda node, words: {"about": said} if (said := _span(node, words)) else {},
}
