"""Reads corrections with the embedded model: requests, and how probable it is that these are meant."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llm_planner.correction.compact.hearing import Names
from llm_planner.correction.compact_reader import Reading, Readings
from llm_planner.correction.request_text import requests_of
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.prompt import Task, plain, situation_of
from llm_planner.language.embedded.reader import EmbeddedReader
from llm_planner.world.scene import Scene

SURE = 0.8  # probability from which on a reading is taken


@dataclass(frozen=True)
class EmbeddedCorrectionReader:
    """Stands in for the compact network in `read_by_network`, for words said in `scene` while `step` was under way.

    Readings less probable than `least` are for the person to decide.
    """

    reader: EmbeddedReader
    scene: Scene
    step: str = ""
    least: float = SURE

    def read(self, words: str, names: Names) -> Readings:
        """Read what was said; no readings where the model has none or cannot make sense of the words."""
        del names  # the model knows the scene
        said = re.sub(r" +,", ",", words)
        try:
            found = self.reader.read(Task.CORRECTION, situation_of(self.scene, self.step), said)
            if found.terms[0].name == "unclear":
                return Readings()
            requests = requests_of(found.terms, plain(said))
        except LanguageModelError:
            return Readings()
        return Readings((Reading(requests, found.probability),), self.least)
