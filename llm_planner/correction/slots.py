"""From a phrase that fits to the request: what stands in its slots, in the person's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from llm_planner.correction.amounts import AMOUNT, is_added, read_amount
from llm_planner.correction.clauses import take_scope
from llm_planner.correction.marking import PLACE, Marked
from llm_planner.correction.patterns import COMMANDS, DIRECTION_WORDS, ORDINALS, RELATION_WORDS
from llm_planner.correction.phrases import Phrase
from llm_planner.correction.requests import Intent, Request, Sense

_TARGETS = ("target", "y", "r", "p", "q", "before")  # slots of a pattern that say where
_WITH_TEXT = frozenset((Intent.RULE, Intent.LIFT, Intent.SKIP, Intent.FIRST, Intent.OTHER_THING, Intent.OTHER_TARGET))
_FURTHER = re.compile(r"(?: (?:too|as well|also|please|thanks|once more|again|instead))+$")
_GOING = re.compile(rf"^(?:go|come) (?:and )?(?=(?:{'|'.join(COMMANDS)}) )")
_TIMED = ("wait", "follow")


def request_of(phrase: Phrase, match: re.Match[str], marked: Marked) -> Request:
    """The slots of the phrase, and those that its pattern has found."""
    groups = {name.rstrip("0123456789"): said.strip() for name, said in match.groupdict().items() if said}
    words = {name: marked.unmarked(said) for name, said in groups.items()}
    slots = {**_named(words), **_measured(groups, words), **_relation(phrase.intent, groups), **phrase.slots}
    if is_added(words.get("n", "")):
        slots["sense"] = Sense.MORE
    slots |= _texts(phrase.intent, marked.unmarked(match[0].strip()), words, slots)
    if slots.get("negated"):  # what is the wrong one does not say which is right
        slots["instead_of"], slots["thing"] = slots["thing"] or slots["instead_of"], ""
    return Request(phrase.intent, **slots)


def _named(words: Mapping[str, str]) -> dict[str, Any]:
    return {
        "thing": words.get("x") or words.get("o") or "",
        "target": next((words[name] for name in _TARGETS if name in words), ""),
        "instead_of": words.get("old", ""),
        "about": words.get("about", ""),
    }


def _measured(groups: Mapping[str, str], words: Mapping[str, str]) -> dict[str, Any]:
    """Directions and amounts."""
    slots: dict[str, Any] = {}
    if "d" in groups:
        slots["direction"], slots["frame"] = DIRECTION_WORDS[groups["d"]]
    if "n" in groups:
        amount = read_amount(words["n"])
        slots["number"], slots["unit"] = amount.number, amount.unit
    return slots


def _relation(intent: Intent, groups: Mapping[str, str]) -> dict[str, str]:
    place = groups.get("p") or groups.get("r")
    if place and intent is Intent.OTHER_TARGET:
        return {"relation": "at" if place[0] == PLACE else "to"}
    return {"relation": RELATION_WORDS[groups["rel"]]} if "rel" in groups else {}


def _texts(intent: Intent, said: str, words: Mapping[str, str], slots: Mapping[str, Any]) -> dict[str, Any]:
    """What others read on, and what tells which step is meant."""
    if "command" in words:
        return {"text": command_said(words["command"], slots["thing"])}
    if "ordinal" in words:
        return {"text": ORDINALS[words["ordinal"]]}
    if intent is Intent.DURATION:
        return {"text": timed(said)}
    if intent is Intent.FORGET and "o" in words:
        return {"about": words["o"]}
    scope = {"scope": take_scope(said)[1]} if intent is Intent.RULE else {}
    if intent is Intent.RULE and "text" in slots:  # "mind the vase" says no more than that it is to be avoided
        said = f"{slots['text']} {slots['thing'] or words['n'] + ' per second'}"
    return {"text": said, **scope} if intent in _WITH_TEXT else {}


def timed(said: str) -> str:
    """The verb that tells which step's time is spoken of, "" for none."""
    return next((verb for verb in _TIMED if verb in said.split()), "")


def command_said(command: str, thing: str) -> str:
    """The command for a planner: with what "it" stands for, and "that button" as the one that it is."""
    command = AMOUNT.sub(_in_seconds, _GOING.sub("", _FURTHER.sub("", command)))
    if thing:
        return re.sub(r"\b(?:it|that|this)\b", thing, command, count=1)
    return re.sub(r"\b(?:that|this) (?=\w)", "the ", command)


def _in_seconds(found: re.Match[str]) -> str:
    """ "Half a minute" as planners read it; lengths as they were said."""
    amount = read_amount(found[0])
    return f"{amount.value:g} seconds" if amount.is_time else found[0]
