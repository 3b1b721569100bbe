"""From words to an edit: stop words first, then the rules, then whoever reads what the rules do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_planner.correction.edits import Cancel, Edit
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.language.stop_words import is_stop

OtherReader = Callable[[str, Situation], Edit]  # of what the rules have no reading of


@dataclass(frozen=True)
class CorrectionReader:
    """`others` are asked in turn, the first one that is there; without any, what the rules do not read is nothing."""

    sources: Sources | None = None
    other: OtherReader | None = None

    def read(self, words: str, situation: Situation) -> Edit:
        """The edit that the words ask for, made for the situation's version of the plan; no operations where they are
        no correction, a single `Clarify` where only the person can say what is meant."""
        if is_stop(words):
            return Edit((Cancel(),), words, situation.version)
        edit = read_by_rules(words, situation, self.sources)
        if edit is None and self.other is not None:
            edit = self.other(words, situation)
        return edit or Edit((), words, situation.version)
