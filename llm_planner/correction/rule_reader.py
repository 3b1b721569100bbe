"""Reads corrections by rules alone: what they are not sure of, to the last word, they leave to others."""

from __future__ import annotations

from dataclasses import replace

from llm_planner.correction.building import build
from llm_planner.correction.clauses import bare, normal, tidy
from llm_planner.correction.requests import Intent
from llm_planner.correction.situation import Situation
from llm_planner.correction.slips import corrected
from llm_planner.correction.sources import Sources, offline_sources
from llm_planner.correction.utterances import read_requests
from llm_planner.language.stop_words import is_stop
from llm_planner.plan.edits import Cancel, Clarify, Edit
from llm_planner.world.scene import Scene

_ARTICLES = frozenset(("the", "a", "an", "one", "ones", "that", "this"))


def read_by_rules(words: str, situation: Situation, sources: Sources | None = None) -> Edit | None:
    """The edit that the words ask for; None where the rules have no reading of them.

    An edit without operations: they are sure to be no correction. What cannot be decided is a `Clarify`. `sources`
    formalise rules and write steps; those without a network connection, unless others are given.
    """
    if is_stop(words) or is_stop(corrected(normal(words), situation.scene)):
        return Edit((Cancel(),), words, situation.version)
    asked = situation.asked
    if asked is not None and (option := chosen(words, asked, situation.scene)):
        edit = read_by_rules(option, replace(situation, asked=None), sources)
        return replace(edit, words=words) if edit is not None else None
    requests = read_requests(words, situation.scene, asked is not None)
    if requests is None:
        return None
    return build(requests, words, situation, sources or offline_sources(situation))


def chosen(words: str, asked: Clarify, scene: Scene) -> str:
    """The option that the words are, name by its number, or are a part of; "" for none, or several."""
    requests = read_requests(words, scene, asked=True) or ()
    if [request.intent for request in requests] == [Intent.OPTION]:
        number = len(asked.options) if requests[0].text == "last" else int(requests[0].text)
        return asked.options[number - 1] if number <= len(asked.options) else ""
    said = set(bare(tidy(normal(words).replace(",", " ")))[-1].split()) - _ARTICLES
    fitting = [option for option in asked.options if said and said <= set(normal(option).split())]
    return fitting[0] if len(fitting) == 1 and len(asked.options) > 1 and not _is_yes_or_no(asked) else ""


def _is_yes_or_no(asked: Clarify) -> bool:
    return {normal(option) for option in asked.options} <= {"yes", "no"}
