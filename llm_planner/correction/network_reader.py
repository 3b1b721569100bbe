"""Reads corrections with the compact network, and asks where its prediction set does not hold exactly one reading.

Readings that nothing could be done about in this plan are left out of the set, and those that come to the same are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from llm_planner.correction.building import build
from llm_planner.correction.clauses import normal
from llm_planner.correction.compact.hearing import Names, names_of
from llm_planner.correction.compact_reader import SURE, Reading, Readings, load_compact_reader
from llm_planner.correction.references import MOST_OPTIONS
from llm_planner.correction.request_words import in_words
from llm_planner.correction.requests import Intent, Request
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.situation import Situation
from llm_planner.correction.slips import corrected
from llm_planner.correction.sources import Sources, offline_sources
from llm_planner.plan.edits import AddRule, Clarify, Edit

TALK = 0.5  # from this probability on of being no correction, nothing is asked
LEAST = 0.25  # probability of what is done because nothing else in the set can be
SLIGHT = 0.01  # probability of readings that are not looked at
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))
_NOTHING = (Request(Intent.NOTHING),)


class RequestReader(Protocol):
    """Any model that reads requests: the compact network, or the embedded model."""

    def read(self, words: str, names: Names) -> Readings: ...


def read_by_network(
    words: str, situation: Situation, reader: RequestReader | None = None, sources: Sources | None = None
) -> Edit:
    """The edit of the one reading in the prediction set; else a question with at most three options.

    Stop words are not for it. Talk that is probably no correction has no operations. Raises LanguageModelError where
    there are no weights.
    """
    plain = corrected(normal(words), situation.scene)
    found = (reader or load_compact_reader()).read(plain, names_of(situation.scene))
    meanings = _meanings(found, words, situation, sources)
    in_set = [one for one in meanings if one.probability >= found.least]
    if not meanings or _is_talk(meanings[0], in_set):
        return Edit((), words, situation.version)
    if len(in_set) == 1 and in_set[0].probability > SURE:
        return in_set[0].edit
    can_be_done = [one for one in in_set if not one.edit.asks]
    if len(can_be_done) == 1 and can_be_done[0].probability > LEAST:
        return can_be_done[0].edit
    offered = [one.readings[0] for one in (in_set if len(in_set) > 1 else meanings)]
    return Edit((_question(words, offered),), words, situation.version)


@dataclass(frozen=True)
class _Meaning:
    """What some readings come to in this plan, and how probable it is that one of them is meant."""

    edit: Edit
    readings: tuple[Reading, ...]

    @property
    def probability(self) -> float:
        return sum(reading.probability for reading in self.readings)


def _meanings(found: Readings, words: str, situation: Situation, sources: Sources | None) -> list[_Meaning]:
    """The most probable first. Readings that differ in their words alone are one."""
    alike: dict[object, _Meaning] = {}
    for reading in found.readings:
        if reading.probability < SLIGHT and alike:
            break
        edit = _edit(_fitting(reading.requests, situation), words, situation, sources)
        known = alike.setdefault(_what_counts(edit), _Meaning(edit, ()))
        alike[_what_counts(edit)] = replace(known, readings=(*known.readings, reading))
    return sorted(alike.values(), key=lambda one: -one.probability)


def _what_counts(edit: Edit) -> object:
    rules = tuple(replace(one, words="") if isinstance(one, AddRule) else one for one in edit.operations)
    return repr((rules, edit.scope, edit.about))


def _is_talk(best: _Meaning, in_set: Sequence[_Meaning]) -> bool:
    return not best.edit.operations and (list(in_set) == [best] or best.probability >= TALK)


def _fitting(requests: tuple[Request, ...], situation: Situation) -> tuple[Request, ...]:
    """An answer is one while a question is open only."""
    if situation.asked is not None:
        return requests
    return tuple(request for request in requests if request.intent not in _ANSWERS) or _NOTHING


def _edit(requests: tuple[Request, ...], words: str, situation: Situation, sources: Sources | None) -> Edit:
    asked = situation.asked
    if asked is not None and [request.intent for request in requests] == [Intent.OPTION]:
        number = len(asked.options) if requests[0].text == "last" else int(requests[0].text)
        option = asked.options[number - 1] if 0 < number <= len(asked.options) else ""
        edit = read_by_rules(option, replace(situation, asked=None), sources) if option else None
        return replace(edit, words=words) if edit is not None else Edit((asked,), words, situation.version)
    return build(requests, words, situation, sources or offline_sources(situation))


def _question(words: str, offered: Sequence[Reading]) -> Clarify:
    options = tuple(dict.fromkeys(option for option in map(_said, offered) if option))[:MOST_OPTIONS]
    if len(options) > 1:
        return Clarify(f"What do you mean by “{words}”: {' or '.join(options)}?", options)
    if options:
        return Clarify(f"Do you mean: {options[0]}?", options)
    return Clarify(f"I am not sure what you mean by “{words}”. Please say it in another way.")


def _said(reading: Reading) -> str:
    return " and ".join(filter(None, map(in_words, reading.requests)))
