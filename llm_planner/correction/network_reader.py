"""Reads corrections with the compact network, and asks where its prediction set does not hold exactly one reading.

Readings that nothing could be done about in this plan are left out of the set, and those that come to the same are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.correction.building import build
from llm_planner.correction.clauses import normal
from llm_planner.correction.compact.hearing import names_of
from llm_planner.correction.compact_reader import CompactReader, Reading, Readings, load_compact_reader
from llm_planner.correction.references import MOST_OPTIONS
from llm_planner.correction.request_words import in_words
from llm_planner.correction.requests import Intent, Request
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.situation import Situation
from llm_planner.correction.slips import corrected
from llm_planner.correction.sources import Sources, offline_sources
from llm_planner.plan.edits import Clarify, Edit

TALK = 0.5  # from this probability on of being no correction, nothing is asked
LEAST = 0.25  # probability of the readings whose edit is made because no other can be
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))
_NOTHING = (Request(Intent.NOTHING),)


def read_by_network(
    words: str, situation: Situation, reader: CompactReader | None = None, sources: Sources | None = None
) -> Edit:
    """The edit of the one reading in the prediction set; else a question with at most three options.

    Stop words are not for it. Talk that is probably no correction has no operations. Raises LanguageModelError where
    there are no weights.
    """
    plain = corrected(normal(words), situation.scene)
    found = (reader or load_compact_reader()).read(plain, names_of(situation.scene))
    if not found.readings or _is_talk(found):
        return Edit((), words, situation.version)
    if found.is_sure:
        return _edit(_fitting(found.conformal[0].requests, situation), words, situation, sources)
    edits = [_edit(_fitting(one.requests, situation), words, situation, sources) for one in found.conformal]
    return _only_one(found, edits) or Edit((_question(words, found),), words, situation.version)


def _only_one(found: Readings, edits: Sequence[Edit]) -> Edit | None:
    """The one edit that the readings of the prediction set come to, leaving out what cannot be done."""
    can_be_done = [(one, edit) for one, edit in zip(found.conformal, edits, strict=True) if not edit.asks]
    share = sum(reading.probability for reading, _ in can_be_done)
    first = can_be_done[0][1] if can_be_done else None
    alike = first is not None and all(edit.operations == first.operations for _, edit in can_be_done)
    return first if alike and share > LEAST else None


def _is_talk(found: Readings) -> bool:
    best = found.readings[0]
    return best.requests == _NOTHING and (found.conformal == (best,) or best.probability >= TALK)


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


def _question(words: str, found: Readings) -> Clarify:
    offered = [_said(reading) for reading in (found.conformal if len(found.conformal) > 1 else found.readings)]
    options = tuple(dict.fromkeys(option for option in offered if option))[:MOST_OPTIONS]
    if len(options) > 1:
        return Clarify(f"What do you mean by “{words}”: {' or '.join(options)}?", options)
    if options:
        return Clarify(f"Do you mean: {options[0]}?", options)
    return Clarify(f"I am not sure what you mean by “{words}”. Please say it in another way.")


def _said(reading: Reading) -> str:
    return " and ".join(filter(None, map(in_words, reading.requests)))
