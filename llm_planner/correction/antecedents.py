"""What "it" stands for where it was named before the request: "there is soup in the bowl, so don't reach over it"."""

from __future__ import annotations

import re
from dataclasses import replace

from llm_planner.correction.clauses import normal
from llm_planner.correction.marking import mark
from llm_planner.correction.references import candidates, is_room
from llm_planner.correction.requests import Intent, Request
from llm_planner.world.scene import Scene

OF_RULES = (Intent.RULE, Intent.LIFT)
PRONOUNS = ("it", "them", "him", "her", "there")
_IN_A_TEXT = re.compile(rf"\b(?:{'|'.join(PRONOUNS)}|that one)\b")
_ALONE = frozenset(("it", "that", "them", "that one", "this"))
_PERSON = re.compile(r"\b(?:him|her)\b")  # whom an errand is for, never what it is about
_THERE = re.compile(r"\bthere\b")


def with_antecedent(request: Request, words: str, scene: Scene) -> Request:
    """The request with the one thing or room here that was named before it in the place of its pronoun; the request
    itself where there is no pronoun, or nothing or several things were named."""
    of_text = request.intent in OF_RULES and not mark(request.text, scene).said
    of_person = request.intent is Intent.SKIP_THIS and _PERSON.search(normal(words)) is not None
    of_thing = of_person or (request.intent is Intent.SKIP and request.thing in _ALONE)
    if not (of_text and _IN_A_TEXT.search(request.text)) and not of_thing:
        return request
    said = normal(words)
    before = said.partition(request.text)[0] if of_text else said
    named = [one for one in dict.fromkeys(mark(before, scene).said) if is_room(one, scene) or candidates(one, scene)]
    if len(named) != 1:
        return request
    if of_thing:
        return replace(request, intent=Intent.SKIP, thing=named[0])
    name = f"in {named[0]}" if _THERE.search(request.text) and is_room(named[0], scene) else named[0]
    return replace(request, text=_IN_A_TEXT.sub(name, request.text, count=1))
