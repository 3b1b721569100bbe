"""Read corrections with the embedded model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llm_planner.correction.pending import Requests
from llm_planner.correction.request_text import requests_of
from llm_planner.correction.situation import Situation
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.prompt import Task, plain, situation_of
from llm_planner.language.embedded.reader import EmbeddedReader


@dataclass(frozen=True)
class EmbeddedCorrectionReader:
    """A `request_reading.RequestModel`."""

    reader: EmbeddedReader

    def read(self, words: str, situation: Situation) -> tuple[Requests, float]:
        """Return the requests and their probability; none where the model makes no sense of the words."""
        said = re.sub(r" +,", ",", words)
        found = self.reader.read(Task.CORRECTION, situation_of(situation.scene, _step(situation)), said)
        if found.terms[0].name == "unclear":
            return (), found.probability
        try:
            return requests_of(found.terms, plain(said)), found.probability
        except LanguageModelError:
            return (), found.probability


def _step(situation: Situation) -> str:
    """The skill call under way, as the model is told of it."""
    now = situation.running
    return " ".join((now.skill, *(one for one in now.arguments.values() if isinstance(one, str)))) if now else ""
