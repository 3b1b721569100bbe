"""The embedded model behind the `LanguageModel` seam: one reading of a command gives program, rules and goals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.embedded.command_forms import SPECIFICATIONS
from llm_planner.language.embedded.meaning import command_of, requirements_of
from llm_planner.language.embedded.prompt import Situation, Task, plain, situation_of
from llm_planner.language.embedded.reader import EmbeddedReader, TermReading, load_reader
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import Phrase, proposition_phrases, scene_phrases
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    Reading,
    ReadingReply,
    ReadingRequest,
)
from llm_planner.world.scene import Scene

SURE = 0.6  # probability from which a reading is acted on
_MOMENT = ("a ", "one ", "half a ")  # "hang on a second" is no amount
EXAMPLES = 'For instance: "put the red block in the green bowl" or "stack all the blocks".'


class EmbeddedModel:
    """A network of 29 million weights; deterministic, offline, about a tenth of a second a command.

    Args:
        reader: reads the words.
        least: probability from which a reading is acted on; below it is a question.
    """

    name = "embedded"
    chooses = False
    is_large = False

    def __init__(self, reader: EmbeddedReader, least: float = SURE) -> None:
        self.reader, self.least = reader, least

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """Return one reading: the most probable, or a question where that is not probable enough."""
        task = Task.RULE if request.propositions else Task.COMMAND
        situation = (
            Situation(propositions=request.propositions) if request.propositions else situation_of(request.scene)
        )
        try:
            best = self._best(task, situation, request.command, request.scene)
            if request.propositions:
                constraints = requirements_of(best.terms, request.command, request.propositions)
                return ReadingReply((Reading(constraints=constraints, log_probability=0.0, whole=True),))
            found = command_of(best.terms, request.command, request.scene)
        except QuestionError as question:
            return ReadingReply((Reading(question=str(question), log_probability=0.0),))
        refused = {attempt.program for attempt in request.attempts}
        has_task = any(term.name not in SPECIFICATIONS for term in best.terms)
        reading = Reading(request.command if has_task else "", found.constraints, "", 0.0, whole=True)
        if str(reading) in refused:
            return ReadingReply((Reading(question=_unsure(request.command, request.scene), log_probability=0.0),))
        return ReadingReply((reading,))

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """Return the program of the command's reading; a question where there is none, or it was refused."""
        try:
            best = self._best(Task.COMMAND, situation_of(request.scene), request.command, request.scene)
            found = command_of(best.terms, request.command, request.scene)
        except QuestionError as question:
            return ProgramReply(question=str(question))
        if not found.program:
            return ProgramReply(question=_unsure(request.command, request.scene))
        for attempt in request.attempts:
            if attempt.program == found.program:
                problems = "; ".join(attempt.problems)
                return ProgramReply(question=f'I cannot do "{request.command.strip()}": {problems}')
        return ProgramReply(program=found.program, confidence=best.probability)

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """Prefer no option: this model reads sentences only."""
        return ChoiceReply((0.0,) * len(request.options))

    def _best(self, task: Task, situation: Situation, words: str, scene: Scene) -> TermReading:
        """The reading to act on; raises QuestionError where there is none. What is no command may be a rule alone."""
        try:
            best = next(iter(self.reader.read(task, situation, words)), None)
            if task is Task.COMMAND and not self._is_sure(best):
                rule = next(iter(self.reader.read(Task.RULE, situation, words)), None)
                best = rule if self._is_sure(rule) else best
        except LanguageModelError as error:
            raise QuestionError(f"{error}. {EXAMPLES}") from error
        if best is None or best.probability < self.least:
            raise QuestionError(_unsure(words, scene))
        names = proposition_phrases(situation.propositions) if situation.propositions else scene_phrases(scene)
        if not _asks(best) and (lost := not_said(best, words, names)):
            raise QuestionError(f"I do not know what to do about “{lost}”. Please say that part in another way.")
        return best

    def _is_sure(self, reading: TermReading | None) -> bool:
        return reading is not None and reading.probability >= self.least and not _asks(reading)


def _asks(reading: TermReading) -> bool:
    return reading.terms[0].name in ("unclear", "cannot")


def not_said(reading: TermReading, words: str, names: Sequence[Phrase]) -> str:
    """Return one of the `names`, or an amount, that the words have and the reading has not; "" where there is none."""
    said, about = plain(words), {term.name for term in reading.terms}
    for word in lift(said, names, "", slips=False).words:
        text = said[word.start : word.end]
        is_moment = word.segment == "seconds" and text.startswith(_MOMENT)
        is_amount = word.segment in ("quantity", "speed", "seconds") and not is_moment
        is_name = word.text.startswith("#") and word.segment == "word" and text not in about  # "dock" is what is done
        if (is_name or is_amount) and not reading.covers(word.start, word.end):
            return text
    return ""


def _unsure(command: str, scene: Scene) -> str:
    seen = ", ".join(scene.names) or "nothing"
    return f'I am not sure what you mean by "{command.strip()}". Please say it another way. I see: {seen}.'


@lru_cache(maxsize=1)
def load_model() -> EmbeddedModel:
    """Load the model that ships; raise LanguageModelError where its weights are missing."""
    return EmbeddedModel(load_reader())
