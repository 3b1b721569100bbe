"""From a command to its task and constraints, sure enough to act on, or a question; nothing is dropped on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log

from llm_planner.errors import InputError, LanguageModelError, QuestionError
from llm_planner.language.counted import CountedModel
from llm_planner.language.model import LanguageModel, Reading, ReadingRequest, Usage
from llm_planner.language.understanding import questions
from llm_planner.language.understanding.absent import check_here
from llm_planner.language.understanding.amounts import check_amounts_said
from llm_planner.language.understanding.clauses import clauses
from llm_planner.language.understanding.grounding import as_attempt, ground
from llm_planner.language.understanding.harm import check_harmless
from llm_planner.language.understanding.meaning import Meanings
from llm_planner.language.understanding.typed import typed
from llm_planner.language.understanding.vote import Grounded, Group, Vote, count
from llm_planner.language.understanding.wording import left_over
from llm_planner.program.synthesis import clean_command
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.scene import Scene

SAMPLES = 5
TEMPERATURE = 0.7
SURE = log(0.95)  # log-probability of a first reading from which no other is asked for


@dataclass(frozen=True)
class Understood:
    """The words of the task ("" for none), the constraints, how the readings voted, and what was asked for cost."""

    task: str
    constraints: tuple[Constraint, ...]
    vote: Vote
    usage: Usage = field(default_factory=Usage)


def understand(
    command: str,
    scene: Scene,
    model: LanguageModel,
    samples: int = SAMPLES,
    temperature: float = TEMPERATURE,
    seed: int = 0,
    propositions: tuple[str, ...] = (),
) -> Understood:
    """The meaning that more than half of the model's readings have, over `scene` or over bare `propositions`.

    A command without such a meaning is read clause by clause, where its clauses can be read apart. Raises QuestionError
    where there is no such meaning, it is itself a question, leaves words of the command out, or cannot be fulfilled;
    InputError for a command that is too long or asks for a person to be harmed; LanguageModelError as it comes.
    """
    command = clean_command(command)
    check_harmless(command, scene)
    if not propositions:
        check_amounts_said(command)
    meanings = Meanings(scene, bool(propositions))
    request = ReadingRequest(command, scene, propositions, temperature=temperature, seed=seed)
    counted = CountedModel(model)
    understood = _read(request, counted, meanings, samples)
    constraints = understood.constraints
    if clash := meanings.conflict([constraint.formula for constraint in constraints]):
        raise questions.conflict([constraints[index] for index in clash])
    return replace(understood, usage=counted.usage)


def _read(request: ReadingRequest, model: LanguageModel, meanings: Meanings, samples: int) -> Understood:
    """The command as a whole, or else by its clauses; what is written as a formula is not read but taken."""
    written = typed(request.command)
    if written is not None:
        grounded = ground(written, request.scene, request.propositions)
        return Understood("", grounded.constraints, Vote(1, (Group(grounded, has_best=True),), sure=True))
    parts = clauses(request.command)
    try:
        return _read_whole(request, model, meanings, samples)
    except QuestionError:
        if len(parts) < 2:
            raise
    return _together([_read_whole(replace(request, command=part), model, meanings, samples) for part in parts])


def _read_whole(request: ReadingRequest, model: LanguageModel, meanings: Meanings, samples: int) -> Understood:
    vote = _Poll(request, model, meanings).held(samples)
    if not vote.decided or vote.groups[0].reading.question:
        if not request.propositions:
            check_here(request.command, request.scene)
        raise questions.unclear(vote)
    reading = vote.groups[0].reading
    if words := left_over(request.command, (reading.task, *(constraint.words for constraint in reading.constraints))):
        raise questions.left_out(words)
    return Understood(reading.task, reading.constraints, vote)


def _together(parts: Sequence[Understood]) -> Understood:
    """All clauses; the vote is that of the one on which the readings agreed least."""
    task = ", ".join(part.task for part in parts if part.task)
    constraints = tuple(constraint for part in parts for constraint in part.constraints)
    vote = min((part.vote for part in parts), key=lambda vote: vote.groups[0].count / vote.asked)
    return Understood(task, constraints, vote)


class _Poll:
    """Asks for readings, no more than the vote needs, and counts them by meaning."""

    def __init__(self, request: ReadingRequest, model: LanguageModel, meanings: Meanings) -> None:
        self._request, self._model, self._meanings = request, model, meanings
        self._rounds = 0
        self._mended: dict[Reading, Reading] = {}

    def held(self, samples: int) -> Vote:
        """One reading, then as many as make a majority with it, then the rest: until the vote is over."""
        vote = Vote(samples)
        for wanted in (1, samples // 2, samples - samples // 2 - 1):
            if wanted and not vote.over:
                for reading in self._drawn(wanted):
                    vote = self._counted(vote, reading)
        return vote

    def _counted(self, vote: Vote, reading: Reading) -> Vote:
        first = vote.asked == 0
        try:
            grounded = self._grounded(reading)
        except InputError as error:
            try:
                grounded, first = self._grounded(self._repaired(reading, error)), False
            except InputError as again:
                return replace(vote, failed=(*vote.failed, str(again)))
        sure = first and reading.log_probability is not None and reading.log_probability >= SURE
        return replace(count(vote, grounded, self._meanings.same), sure=vote.sure or sure)

    def _grounded(self, reading: Reading) -> Grounded:
        return ground(reading, self._request.scene, self._request.propositions)

    def _drawn(self, wanted: int) -> tuple[Reading, ...]:
        """So many new readings: the first of every reply is the model's best, which counts once."""
        again = int(self._rounds > 0)
        request = replace(self._request, samples=wanted + again, seed=self._request.seed + self._rounds)
        self._rounds += 1
        return self._asked(request)[again:]

    def _repaired(self, reading: Reading, error: InputError) -> Reading:
        """The model's second try, once it has heard what was wrong; asked once for readings that are alike."""
        if reading not in self._mended:
            attempt = as_attempt(reading, error)
            self._mended[reading] = self._asked(replace(self._request, attempts=(attempt,)))[0]
        return self._mended[reading]

    def _asked(self, request: ReadingRequest) -> tuple[Reading, ...]:
        reply = self._model.read_command(request)
        if not reply.readings:
            raise LanguageModelError(f"the language model {self._model.name} gave no reading of {request.command!r}")
        return reply.readings
