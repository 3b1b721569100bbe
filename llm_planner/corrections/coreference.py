"""Resolution of pronouns in requests.

A pronoun refers to the only other object in the utterance, to the held object, or to the object of the current errand.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from llm_planner.corrections.references import SIDES, UnclearError, names_in
from llm_planner.corrections.situation import Situation, ahead
from llm_planner.language.correction_requests import OF_MOTION, Intent, Request
from llm_planner.language.grounding.lifting import amounts_in, lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.scene.names import the
from llm_planner.scene.predicates import contents

_PERSON = re.compile(r"\b(?:him|her|he|she)\b")
_THEM = re.compile(r"(?<!of )\bthem\b")
_THING = re.compile(r"\b(?:that one|this one|(?<!after )(?<!before )(?:that|this))$|\bit\b(?!')")
_ALONG = r"(?:(?:along|together) )?with (?:it|that|this)\b"
_THERE = re.compile(
    rf"\b(?:(?:in|over|up|down) )?there\b(?!'| is| are)(?: {_ALONG})?|\bin {_ALONG}"
    r"|\b(?:in|inside|into|on|onto|to) the same (?!way|direction|time)\w+"
)
_ONCE_MORE = re.compile(r",? \b(?:(?:a|the) second|one more) time\b|,? \bonce more\b")  # true of every added command
_WITH_IT = re.compile(r"\bwith it\b")
_SAME_WAY = re.compile(r"\bthe same (?:way|direction|distance)\b")
_CLAUSE = re.compile(r"\b(?:and|then)\b|[,;.]")
_PREPOSITION = re.compile(r"\b(?:with|of|to|from|in|into|inside|on|onto|over|under|by|near|beside|behind|around) $")
_WHEN = re.compile(r"\b(?:when|once|after|before|until|as soon as)\b[^,.;]*")
_STACK = re.compile(r"\b(?:(?:the|this|that) )?(?:(?:whole|entire) )?(?:tower|stack|pile)\b")
_THAT_KIND = re.compile(r"(?:that|this) \w")
_SLOTS = ("thing", "instead_of", "target", "near", "about")
# Slots whose "that one" is not the object under way
_DEICTIC = ((Intent.OTHER_THING, "thing"), (Intent.OTHER_TARGET, "target"), (Intent.SHIFT, "target"))
_LAST_MEANT = (Intent.PUT_BACK, Intent.SKIP, Intent.AGAIN)  # these builders find the object of "it" themselves


def with_names(request: Request, words: str, situation: Situation) -> Request:
    """Replace pronouns in the request by names, as far as the words and the plan determine them."""
    if request.intent in (Intent.RULE, Intent.LIFT):
        if names_in(request.text, situation.scene):
            held = situation.scene.held
            return replace(request, text=_WITH_IT.sub(f"with {the(held)}", request.text)) if held else request
        return replace(
            request,
            text=_named(request.text, _others(request.text, (), words, situation), situation, situation.scene.held),
        )
    for slot in _SLOTS:
        said = getattr(request, slot)
        if said:
            named: dict[str, Any] = {slot: _slot(slot, said, request, words, situation)}
            request = replace(request, **named)
    if request.intent is Intent.OTHER_THING and request.thing and not (request.target or request.instead_of):
        return replace(request, target=_goal_of_its_kind(request.thing, words, situation))
    if request.intent is not Intent.ADD:
        return request
    return _as_before(request, situation) or replace(request, text=_command(request, words, situation))


def _goal_of_its_kind(thing: str, words: str, situation: Situation) -> str:
    """Return the target given for another object of the kind: "it was the blue parcel, for the lab"."""
    found = situation.candidates(thing)
    kinds, own = {item.kind for item in found}, {item.name for item in found}
    kind_of = {item.name: item.kind for item in situation.scene.objects if item.name not in own}
    alike = [errand for errand in situation.errands_ahead if kind_of.get(situation.subject(errand)) in kinds]
    goals = situation.goals(step for errand in alike for step in errand)
    said = [name for name in _others(thing, (thing,), words, situation) if name in goals]
    return said[0] if len(said) == 1 else ""


def _as_before(request: Request, situation: Situation) -> Request | None:
    """Return "push the vase the same way" as a repetition of the errand under way; None for other commands."""
    text, names = request.text, names_in(request.text, situation.scene)
    if request.target or not _SAME_WAY.search(text) or amounts_in(text) or len(names) != 1:
        return None
    said = set(text.split())
    now = situation.current if situation.errands_ahead else ()
    same = any(step.skill in said for step in now) and not said.intersection(SIDES)
    return Request(Intent.AGAIN, thing=names[0]) if same else None


def _slot(slot: str, said: str, request: Request, words: str, situation: Situation) -> str:
    focus = _focus(situation) if (request.intent, slot) not in _DEICTIC and slot != "near" else ""
    if pointed := re.search(rf"\b(?:that|this) {re.escape(said)}\b", words.lower()):
        said = pointed[0]
    if _THAT_KIND.match(said) and focus:
        fitting = [item.name for item in situation.candidates(said)]
        if focus in fitting and len(fitting) > 1 and not _THING.fullmatch(said):
            return the(focus)
    if names_in(said, situation.scene):
        return said
    if _STACK.fullmatch(said) and (request.intent is Intent.OTHER_TARGET or slot != "thing"):
        base, top = _stacked(situation)
        return (base if slot == "thing" else top) or said
    elsewhere = [getattr(request, other) for other in _SLOTS if other != slot]
    others = () if slot == "instead_of" else _others(said, elsewhere, words, situation)
    if slot == "thing":
        goals = situation.goals(ahead(situation.current)) if situation.errands_ahead else ()
        others = tuple(name for name in others if name not in goals)
        if request.intent in OF_MOTION and situation.scene.held:
            others = ()  # "slower with it, mind the vase"
    found = _named(said, others, situation, focus)
    if slot == "thing" and request.number is None and request.intent in _LAST_MEANT and _THING.fullmatch(said):
        return found if len(others) == 1 else ""
    return found


def _named(said: str, others: tuple[str, ...], situation: Situation, focus: str = "") -> str:
    """Replace the pronoun by the only one of `others`, else by `focus`."""
    people = [item.name for item in situation.scene.objects if item.kind == "person"]
    if _PERSON.search(said):
        named = [name for name in others if name in people]
        met = [str(value) for step in situation.ahead for value in step.arguments.values() if value in people]
        likely = named or met[:1] or people  # else the person whom the next steps concern, or the only one
        name = likely[0] if len(likely) == 1 else ""
        return _PERSON.sub(name, said, count=1) if name else said
    if _THEM.search(said) and people and set(others) <= set(people):
        return _THEM.sub("people" if len(others) != 1 else others[0], said, count=1)
    pronoun = _THEM if _THEM.search(said) else _THING
    name = others[0] if len(others) == 1 else focus if pronoun is _THING else ""
    return pronoun.sub(the(name), said, count=1) if name else said


def _others(said: str, elsewhere: tuple[str, ...] | list[str], words: str, situation: Situation) -> tuple[str, ...]:
    """Return the names in `words` outside of the parts of the request, and containers only without their content."""
    scene = situation.scene
    rest = re.sub(rf"\b{re.escape(said.lower())}\b", " ", words.lower(), count=1)
    spoken = {name for other in elsewhere for name in names_in(other, scene)}
    found = [name for name in names_in(rest, scene) if name not in spoken]
    return tuple(name for name in found if name not in scene.names or not set(contents(scene, name)) & set(found))


def _command(request: Request, words: str, situation: Situation) -> str:
    """Resolve an added command; "there" is the target of the errand under way, or of the request's target."""
    text, scene = _ONCE_MORE.sub("", request.text), situation.scene
    there = _THERE.search(text)
    rooms = scene.building.names if scene.building else ()
    if there and not set(names_in(text[: there.start()], scene)) & set(rooms):
        text = text[: there.start()] + (_where(request, situation) or there[0]) + text[there.end() :]
    if top := _stacked(situation)[1]:
        text = _STACK.sub(the(top), text)
    pronoun = _PERSON.search(text) or _THEM.search(text) or _THING.search(text)
    before = text[: pronoun.start()] if pronoun else ""
    named, own = names_in(before, scene), names_in(_CLAUSE.split(before)[-1], scene)
    is_from_outside = not named or (set(named) == set(own) and _PREPOSITION.search(before) is not None)
    if pronoun and is_from_outside:  # the pronoun cannot refer to a name in the command itself
        others, focus = _antecedents(request, words, situation), _focus(situation)
        text = _named(text, others, situation, "" if others or focus in names_in(text, scene) else focus)
    return text


def _antecedents(request: Request, words: str, situation: Situation) -> tuple[str, ...]:
    """Return the names before the command, else after it, else in the clause that says when to do it."""
    scene = situation.scene
    by_name = {word.name for word in lift(words, scene_phrases(scene), slips=False) if word.segment == "object"}
    what, named_in = _WHEN.sub(" ", words.lower()), (request.target, request.text)
    before = what.partition(request.text.lower())[0]
    for said, own in ((before, named_in), (what, named_in), (words, (request.text,))):
        if others := _others(request.text, own, said, situation):
            return tuple(name for name in others if name in by_name) or others
    return ()


def _stacked(situation: Situation) -> tuple[str, str]:
    """Return the bottom and top objects of the tower that the plan builds, "" without a single tower."""
    under: dict[str, str] = {}
    for errand in situation.errands:
        about = situation.subject(errand)
        for step in errand:
            goal = str(step.arguments.get("object")) if step.skill == "place_on" else ""
            if goal and about and situation.scene.find(goal).kind == situation.scene.find(about).kind:
                under[about] = goal
    bases, tops = set(under.values()) - set(under), set(under) - set(under.values())
    return (bases.pop(), tops.pop()) if len(bases) == len(tops) == 1 else ("", "")


def _where(request: Request, situation: Situation) -> str:
    """Word the target of the errand: "in the green bowl", "to the lab"; "" without a target."""
    try:
        errand = situation.meant(request.target)[0] if request.target else situation.current
    except UnclearError:
        return ""
    for step in reversed(errand):
        goals = situation.destinations_of(step)
        if goals:
            preposition = {"place_in": "in", "place_on": "on", "place_beside": "beside", "place_at": "at"}
            return f"{preposition.get(step.skill, 'to')} {the(goals[0])}"
    return ""


def _focus(situation: Situation) -> str:
    """Return the held object, else the object of the errand under way; "" if nothing is left to do."""
    return situation.scene.held or (situation.subject(situation.current) if situation.errands_ahead else "")
