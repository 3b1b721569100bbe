"""From words to an edit: stop words first, then the rules, then whoever reads what the rules do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from llm_planner.correction.believable import believable
from llm_planner.correction.clause_reader import FREE
from llm_planner.correction.clauses import normal
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.situation import Situation
from llm_planner.correction.slips import unknown
from llm_planner.correction.sources import Sources, sources_with
from llm_planner.correction.utterances import read_requests
from llm_planner.errors import LanguageModelError
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.language.stop_words import before_the_stop, is_stop
from llm_planner.plan.edits import Adjust, Cancel, Change, Clarify, Edit, Hold, Operation
from llm_planner.world.scene import Scene

_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")  # "1,5 cm": elsewhere a comma is a pause
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
        begun = before_the_stop(words)
        if begun and self._rest(begun, situation).operations:  # "slower, and stop": no talk that only ends so
            return Edit((Cancel(),), words, situation.version)
        return self._rest(words, situation)

    def _rest(self, words: str, situation: Situation) -> Edit:
        """What is no stop by its words alone; a speed of nothing is to hold."""
        plain = _DECIMAL_COMMA.sub(".", words)
        edit = read_by_rules(plain, situation, self._sources(situation))
        if edit is None or edit.asks:
            edit = self._by_other(plain, situation, edit)
        if edit is None:
            return Edit((), words, situation.version)
        stops = any(isinstance(one, Cancel) for one in edit.operations)
        operations = (Cancel(),) if stops else tuple(map(_held_at_nothing, edit.operations))
        return replace(edit, operations=operations, words=words)

    def _by_other(self, words: str, situation: Situation, asked: Edit | None) -> Edit | None:
        """What the other reader makes of it; where the rules have `asked`, only what is clear to it, and nothing where
        they have understood all of it."""
        if asked is not None and _is_understood(words, situation):
            return asked
        if self.other is None:
            return asked
        try:
            read = self.other(words, situation)
        except LanguageModelError:
            if asked is None:
                raise
            return asked
        return asked if asked is not None and (read.asks or not read.operations) else read

    def _sources(self, situation: Situation) -> Sources | None:
        if self.sources is not None or self.model is None:
            return self.sources
        return sources_with(self.model, tuple(situation.skills.values()), situation.viewpoint)


def _is_understood(words: str, situation: Situation) -> bool:
    """Whether the rules have read every word of it: one request, of a phrase without free words or anything beside."""
    requests = read_requests(words, situation.scene, situation.asked is not None) or ()
    return len(requests) == 1 and requests[0].intent not in FREE and "," not in normal(words)


def _held_at_nothing(operation: Operation) -> Operation:
    match operation:
        case Adjust("speed", Change.SET, value) if value <= 0.0:
            return Hold()
        case _:
            return operation


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


def warm_up() -> None:
    """Load what the first reading would wait for: phrases, and the network where there are weights."""
    from llm_planner.correction.compact.hearing import Names
    from llm_planner.correction.compact_reader import load_compact_reader

    read_requests("no, the blue one", Scene(0.0, ()))
    with suppress(LanguageModelError):
        load_compact_reader().read("could it be a little less rushed", Names())


def _by_network(words: str, situation: Situation) -> Edit:
    """What the rules read does not depend on the network: without its weights, the rest is no correction."""
    from llm_planner.correction.network_reader import read_by_network

    strange = unknown(normal(words))
    if 2 * len(strange) >= len(words.split()) > 0:
        told = f"I do not know {' or '.join(f'“{word}”' for word in strange)}; say it in other words, in English"
        return Edit((Clarify(told),), words, situation.version)
    try:
        edit = read_by_network(words, situation)
    except LanguageModelError:
        return Edit((), words, situation.version)
    if believable(words, edit):
        return edit
    return replace(edit, operations=(Clarify(f"what do you mean by “{words}”? Say it in other words"),))
