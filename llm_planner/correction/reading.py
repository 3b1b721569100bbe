"""From words to an edit: stop words first, then the rules, then whoever reads what the rules do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_planner.correction.edits import Cancel, Edit
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources, sources_with
from llm_planner.errors import LanguageModelError
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.language.stop_words import is_stop

OtherReader = Callable[[str, Situation], Edit]  # of what the rules have no reading of


@dataclass(frozen=True)
class CorrectionReader:
    """`other` is asked for what the rules do not read; without it, that is nothing.

    Formulas and steps come of the `sources`, else of the language `model`, else of the compact one.
    """

    sources: Sources | None = None
    other: OtherReader | None = None
    model: LanguageModel | None = None

    def read(self, words: str, situation: Situation) -> Edit:
        """The edit that the words ask for, made for the situation's version of the plan; no operations where they are
        no correction, a single `Clarify` where only the person can say what is meant."""
        if is_stop(words):
            return Edit((Cancel(),), words, situation.version)
        edit = read_by_rules(words, situation, self._sources(situation))
        if edit is None and self.other is not None:
            edit = self.other(words, situation)
        return edit or Edit((), words, situation.version)

    def _sources(self, situation: Situation) -> Sources | None:
        if self.sources is not None or self.model is None:
            return self.sources
        return sources_with(self.model, tuple(situation.skills.values()), situation.viewpoint)


def open_reader(model: str = "compact") -> CorrectionReader:
    """The reader whose language model has this name: `compact`, the networks that ship, or `openai`, a server.

    Raises InputError as `open_model`.
    """
    if model == "compact":
        return CorrectionReader(other=_by_network)
    language_model = open_model(model)
    from llm_planner.correction.language_reader import LanguageReader
    from llm_planner.language.server.settings import settings_from_environment

    return CorrectionReader(other=LanguageReader(settings_from_environment()).read, model=language_model)


def _by_network(words: str, situation: Situation) -> Edit:
    """What the rules read does not depend on the network: without its weights, the rest is no correction."""
    from llm_planner.correction.network_reader import read_by_network

    try:
        return read_by_network(words, situation)
    except LanguageModelError:
        return Edit((), words, situation.version)
