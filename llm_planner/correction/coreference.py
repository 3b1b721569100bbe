"""What the pronouns of a request stand for: the one thing that the words name besides it, what is held, or what the
errand under way is about."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from llm_planner.correction.errands import Errand, ahead, current, destinations_of, errands_ahead, meant, subject
from llm_planner.correction.references import UnclearError, candidates, names_in
from llm_planner.correction.requests import OF_MOTION, Intent, Request
from llm_planner.correction.situation import Situation
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.world.names import the
from llm_planner.world.predicates import contents

_PERSON = re.compile(r"\b(?:him|her|he|she)\b")
_THEM = re.compile(r"(?<!of )\bthem\b")
_THING = re.compile(r"\b(?:that one|this one|(?<!after )(?<!before )(?:that|this))$|\bit\b(?!')")
_THERE = re.compile(r"\b(?:(?:in|over|up|down) )?there\b(?!'| is| are)|\b(?:in|into|on|onto|to) the same \w+")
_THAT_KIND = re.compile(r"(?:that|this) \w")
_SLOTS = ("thing", "instead_of", "target", "near", "about")
_DEICTIC = ((Intent.OTHER_THING, "thing"), (Intent.OTHER_TARGET, "target"), (Intent.SHIFT, "target"))  # pointed at
_LAST_MEANT = (Intent.PUT_BACK, Intent.SKIP, Intent.AGAIN)  # which know what "it" is where nothing is named


def with_names(request: Request, words: str, situation: Situation) -> Request:
    """The request with names in place of its pronouns, so far as the words and the plan tell what they stand for."""
    if request.intent in (Intent.RULE, Intent.LIFT):
        if names_in(request.text, situation.scene):
            return request
        return replace(
            request,
            text=_named(request.text, _others(request.text, (), words, situation), situation, situation.scene.held),
        )
    for slot in _SLOTS:
        said = getattr(request, slot)
        if said:
            named: dict[str, Any] = {slot: _slot(slot, said, request, words, situation)}
            request = replace(request, **named)
    return replace(request, text=_command(request, words, situation)) if request.intent is Intent.ADD else request


def _slot(slot: str, said: str, request: Request, words: str, situation: Situation) -> str:
    focus = _focus(situation) if (request.intent, slot) not in _DEICTIC and slot != "near" else ""
    if pointed := re.search(rf"\b(?:that|this) {re.escape(said)}\b", words.lower()):
        said = pointed[0]
    if _THAT_KIND.match(said) and focus:
        fitting = [item.name for item in candidates(said, situation.scene, situation.viewpoint)]
        if focus in fitting and len(fitting) > 1 and not _THING.fullmatch(said):
            return the(focus)
    if names_in(said, situation.scene):
        return said
    elsewhere = [getattr(request, other) for other in _SLOTS if other != slot]
    others = () if slot == "instead_of" else _others(said, elsewhere, words, situation)
    if slot == "thing":
        others = tuple(name for name in others if name not in _goals(situation))
        if request.intent in OF_MOTION and situation.scene.held:
            others = ()  # "slower with it, mind the vase"
    found = _named(said, others, situation, focus)
    if slot == "thing" and request.number is None and request.intent in _LAST_MEANT and _THING.fullmatch(said):
        return found if len(others) == 1 else ""
    return found


def _named(said: str, others: tuple[str, ...], situation: Situation, focus: str = "") -> str:
    """The words with a name in place of their pronoun: the only one of the `others`, else the `focus`."""
    people = [item.name for item in situation.scene.objects if item.kind == "person"]
    if _PERSON.search(said):
        named = [name for name in others if name in people]
        name = named[0] if len(named) == 1 else "" if named else _person(people, situation)
        return _PERSON.sub(name, said, count=1) if name else said
    if _THEM.search(said) and people and set(others) <= set(people):
        return _THEM.sub("people" if len(others) != 1 else others[0], said, count=1)
    pronoun = _THEM if _THEM.search(said) else _THING
    name = others[0] if len(others) == 1 else focus if pronoun is _THING else ""
    return pronoun.sub(the(name), said, count=1) if name else said


def _others(said: str, elsewhere: tuple[str, ...] | list[str], words: str, situation: Situation) -> tuple[str, ...]:
    """What the words name outside of what was `said` and of the other parts of the request; of a thing and what it
    lies in, the thing."""
    scene = situation.scene
    rest = re.sub(rf"\b{re.escape(said.lower())}\b", " ", words.lower(), count=1)
    spoken = {name for other in elsewhere for name in names_in(other, scene)}
    found = [name for name in names_in(rest, scene) if name not in spoken]
    return tuple(name for name in found if name not in scene.names or not set(contents(scene, name)) & set(found))


def _command(request: Request, words: str, situation: Situation) -> str:
    """An added command by itself: "it" is what the words name besides it, "there" where the errand under way, or that
    of the request's target, puts its thing."""
    text, scene = request.text, situation.scene
    pronoun = _PERSON.search(text) or _THEM.search(text) or _THING.search(text)
    if pronoun and not names_in(text[: pronoun.start()], scene):
        own = (request.target, text)
        others = _others(text, own, words, situation)
        by_name = {word.name for word in lift(words, scene_phrases(scene), slips=False) if word.segment == "object"}
        others = tuple(name for name in others if name in by_name) or others
        text = _named(text, others, situation, "" if others else _focus(situation))
    there = _THERE.search(text)
    rooms = scene.building.names if scene.building else ()
    if there and not set(names_in(text[: there.start()], scene)) & set(rooms):
        text = text[: there.start()] + (_where(request, situation) or there[0]) + text[there.end() :]
    return text


def _where(request: Request, situation: Situation) -> str:
    """Where the errand puts its thing, in words: "in the green bowl", "to the lab"; "" where it puts none anywhere."""
    try:
        errand = meant(request.target, situation)[0] if request.target else current(situation)
    except UnclearError:
        return ""
    for step in reversed(errand):
        goals = destinations_of(step, situation)
        if goals:
            preposition = {"place_in": "in", "place_on": "on", "place_beside": "beside", "place_at": "at"}
            return f"{preposition.get(step.skill, 'to')} {the(goals[0])}"
    return ""


def _focus(situation: Situation) -> str:
    """What is held, or else what the errand under way is about; "" where nothing is left to do."""
    return situation.scene.held or (subject(_now(situation), situation) if errands_ahead(situation) else "")


def _now(situation: Situation) -> Errand:
    return current(situation) if errands_ahead(situation) else ()


def _goals(situation: Situation) -> set[str]:
    return {name for step in ahead(_now(situation)) for name in destinations_of(step, situation)}


def _person(people: list[str], situation: Situation) -> str:
    """Whom the next step that has to do with a person is about, or else the only one here."""
    met = [value for step in situation.ahead for value in step.arguments.values() if value in people]
    return str(next(iter(met), people[0] if len(people) == 1 else ""))
