"""Read corrections as requests: reflexes and answers exactly, all else with a model; what is unsure is a question."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from llm_planner.correction.building import build
from llm_planner.correction.pending import Pending, Requests
from llm_planner.correction.references import candidates
from llm_planner.correction.reflexes import plain_words, read_reflex
from llm_planner.correction.request_words import in_words
from llm_planner.correction.requests import Intent
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.plan.edits import Clarify, Edit

SURE = 0.8  # probability from which on a reading is carried out
POSSIBLE = 0.3  # from which on it is offered
TALK = 0.5  # from which on words are taken for no correction
LONGEST_NAME = 6  # words of an answer that is only a name
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))
_ARTICLES = frozenset(("the", "a", "an", "one", "ones", "that", "this"))


class RequestModel(Protocol):
    """A model that reads requests."""

    def read(self, words: str, situation: Situation) -> tuple[Requests, float]:
        """Return the requests, none where the words are unclear, and their probability.

        Raises LanguageModelError where the model cannot be asked.
        """


def read_exactly(words: str, situation: Situation, sources: Sources) -> Edit | None:
    """Read a reflex, or an answer to the open question; None where the words are neither."""
    asked = situation.asked
    request = read_reflex(words, asked is not None)
    if asked is not None:
        meant = _answer(words, asked, situation)
        if meant is not None:
            edit = build(meant, words, replace(situation, asked=None), sources)
            return edit
        if request is not None and request.intent is Intent.OPTION:
            return Edit((asked,), words, situation.version)
        if request is not None and request.intent is Intent.NO and isinstance(asked.pending, Pending):
            return Edit((Clarify("Please say it in other words."),), words, situation.version)
    return build((request,), words, situation, sources) if request is not None else None


def read_with_model(words: str, situation: Situation, sources: Sources, model: RequestModel) -> Edit:
    """Read with the model; a question where its reading is not probable enough."""
    requests, probability = model.read(words, situation)
    if situation.asked is None:
        requests = tuple(one for one in requests if one.intent not in _ANSWERS)
    is_talk = all(one.intent is Intent.NOTHING for one in requests)
    if requests and is_talk and probability >= TALK:
        return Edit((), words, situation.version)
    if not requests or is_talk or probability < POSSIBLE:
        told = f"I am not sure what you mean by “{words}”. Please say it in another way."
        return Edit((Clarify(told),), words, situation.version)
    edit = build(requests, words, situation, sources)
    if probability >= SURE or edit.asks:
        return edit
    said = " and ".join(filter(None, map(in_words, requests)))
    return Edit((Clarify(f"Do you mean: {said}?", (said,), Pending((requests,))),), words, situation.version)


def _answer(words: str, asked: Clarify, situation: Situation) -> Requests | None:
    """The requests that the answer completes the open question to; None where it is no answer to it."""
    if not isinstance(asked.pending, Pending):
        return None
    number = chosen(words, asked)
    if number is not None and number < len(asked.pending.choices):
        return asked.pending.choices[number]
    said = plain_words(words)
    if asked.pending.fill is None or len(said.split()) > LONGEST_NAME:
        return None
    found = candidates(said, situation.scene, situation.viewpoint)
    return asked.pending.fill(found[0].name) if len(found) == 1 else None


def chosen(words: str, asked: Clarify) -> int | None:
    """The number of the option that the words are, name by its number, or are a part of; None for none or several."""
    request = read_reflex(words, asked=True)
    if request is not None and request.intent is Intent.OPTION:
        number = len(asked.options) if request.text == "last" else int(request.text)
        return number - 1 if 0 < number <= len(asked.options) else None
    if request is not None and request.intent is Intent.YES and len(asked.options) == 1:
        return 0
    said = set(plain_words(words).split()) - _ARTICLES
    fitting = [n for n, option in enumerate(asked.options) if said and said <= set(plain_words(option).split())]
    is_yes_or_no = {*asked.options} <= {"yes", "no"}
    return fitting[0] if len(fitting) == 1 and len(asked.options) > 1 and not is_yes_or_no else None
