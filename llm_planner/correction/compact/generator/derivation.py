"""The tree that a drawn sentence means, from the choices that were made and the words that fill its slots."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.correction.compact.generator.clause import Clause
from llm_planner.correction.compact.grammar import CHOICES, SLOTS, SPANS, production
from llm_planner.correction.compact.hearing import Heard
from llm_planner.correction.requests import Intent
from llm_planner.language.compact.grammar import Node, Pointer


def root(clauses: Sequence[Clause], words: Sequence[Heard], slots: Sequence[str]) -> Node:
    """The tree of everything asked for; `slots` are what each word fills, as "THING 0" for the first clause."""
    if not clauses:
        return Node("nothing")
    scope = next((clause.choices["LASTING"] for clause in clauses if "LASTING" in clause.choices), "once")
    about = () if scope == "once" else (_span("ABOUT", "ABOUT lasting", words, slots),)
    listed: Node | None = None
    for index in reversed(range(len(clauses))):
        request = _request(clauses[index], index, words, slots)
        listed = Node("more_requests", (request, listed)) if listed else Node("last_request", (request,))
    assert listed is not None
    return Node("asked", (Node(production("LASTING", scope), about), listed))


def _request(clause: Clause, index: int, words: Sequence[Heard], slots: Sequence[str]) -> Node:
    assert clause.intent is not None
    symbols = ("SCOPE",) if clause.intent is Intent.REMEMBER else SLOTS.get(clause.intent, ())
    children = (_slot(symbol, clause, index, words, slots) for symbol in symbols)
    return Node(production("REQUEST", clause.intent.value), tuple(children))


def _slot(symbol: str, clause: Clause, index: int, words: Sequence[Heard], slots: Sequence[str]) -> Node:
    """A slot as it was said; where nothing was, the first of its choices."""
    if symbol in SPANS:
        towards = symbol == "TARGET" and "DIRECTION" in SLOTS[clause.intent or Intent.NOTHING]
        return Node("target:unsaid") if towards else _span(symbol, f"{symbol} {index}", words, slots)
    if symbol == "SIZE" and f"SIZE {index}" in slots:
        return Node(Pointer("amount", slots.index(f"SIZE {index}")))
    choice = clause.choices.get(symbol, CHOICES[symbol][0])
    if symbol == "RELATION" and choice == "direction":
        return Node(production(symbol, choice), (_slot("DIRECTION", clause, index, words, slots),))
    if symbol == "DIRECTION" and choice in ("towards", "away"):
        return Node(production(symbol, choice), (_span("TARGET", f"TARGET {index}", words, slots),))
    return Node(production(symbol, choice))


def _span(symbol: str, slot: str, words: Sequence[Heard], slots: Sequence[str]) -> Node:
    places = [place for place, filled in enumerate(slots) if filled == slot]
    if not places:
        return Node(production(symbol, "unsaid"))
    ends = (Node(Pointer(words[place].segment, place)) for place in (places[0], places[-1]))
    return Node(production(symbol, "said"), tuple(ends))
