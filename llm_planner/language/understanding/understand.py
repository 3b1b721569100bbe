"""From a command to its task and constraints, sure enough to act on, or a question; nothing is dropped on the way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.counted import CountedModel
from llm_planner.language.model import Exchange, LanguageModel, Reading, ReadingRequest, Usage
from llm_planner.language.understanding import questions
from llm_planner.language.understanding.fidelity import unfaithful
from llm_planner.language.understanding.grounding import as_attempt, ground
from llm_planner.language.understanding.harm import check_harmless
from llm_planner.language.understanding.meaning import Meanings
from llm_planner.language.understanding.mentions import names_in
from llm_planner.language.understanding.typed import typed
from llm_planner.language.understanding.unasked import is_quoted, named_by, unnamed
from llm_planner.language.understanding.vote import Grounded, Group, Vote, count
from llm_planner.language.understanding.wording import is_english, left_over, names_left_over, plain, same_task
from llm_planner.program.signatures import Signature
from llm_planner.program.synthesis import clean_command
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

SAMPLES = 5
LARGE_SAMPLES = 3  # of a large model: two that agree are enough
TEMPERATURE = 0.7
SURE = log(0.95)  # log-probability of a first reading from which no other is asked for


@dataclass(frozen=True)
class Understood:
    """The words of the task ("" for none), the constraints, how the readings voted, and what was asked for cost.

    `goals` hold in the last scene once the task is done; () where the model states none.
    """

    task: str
    constraints: tuple[Constraint, ...]
    vote: Vote
    usage: Usage = field(default_factory=Usage)
    goals: tuple[Formula, ...] = ()


def understand(
    command: str,
    scene: Scene,
    model: LanguageModel,
    samples: int = SAMPLES,
    temperature: float = TEMPERATURE,
    seed: int = 0,
    propositions: tuple[str, ...] = (),
    exchanges: tuple[Exchange, ...] = (),
    skills: tuple[Signature, ...] = (),
    viewpoint: Viewpoint = BEHIND,
) -> Understood:
    """The meaning that more than half of the model's readings have, over `scene` or over bare `propositions`.

    A model that is sure of a reading is asked for no other. `exchanges` came before the command;
    `skills` are the robot's and `viewpoint` is where the person stands.
    Raises QuestionError where there is no such meaning, it is itself a question, leaves words of the command out, or
    cannot be fulfilled; InputError for a command that is too long or asks for a person to be harmed; LanguageModelError
    as it comes.
    """
    command = clean_command(command)
    check_harmless(command, scene)
    meanings = Meanings(scene, bool(propositions))
    request = ReadingRequest(
        command, scene, propositions, temperature=temperature, seed=seed, exchanges=exchanges, skills=skills,
        viewpoint=viewpoint,
    )  # fmt: skip
    counted = CountedModel(model)
    if model.is_large:
        samples = min(samples, LARGE_SAMPLES)
    understood = _read(request, counted, meanings, samples)
    constraints = understood.constraints
    if clash := meanings.conflict([constraint.formula for constraint in constraints]):
        raise questions.conflict([constraints[index] for index in clash])
    return replace(understood, usage=counted.usage)


def _read(request: ReadingRequest, model: LanguageModel, meanings: Meanings, samples: int) -> Understood:
    """The command; what is written as a formula is not read but taken."""
    written = typed(request.command)
    if written is not None:
        grounded = ground(written, request.scene, request.propositions)
        return Understood("", grounded.constraints, Vote(1, (Group(grounded, has_best=True),), sure=True))
    vote = _Poll(request, model, meanings).held(samples)
    if not vote.decided or vote.groups[0].reading.question:
        raise questions.unclear(vote)
    reading = vote.groups[0].reading
    if words := _left_out(request, reading):
        raise questions.left_out(words)
    for constraint in reading.constraints if model.is_large else ():
        if _adds(constraint, request):
            raise questions.added(constraint)
    if model.is_large and (otherwise := _otherwise(reading, request)):
        raise questions.otherwise(otherwise, reading)
    return Understood(reading.task, reading.constraints, vote, goals=reading.goals)


def _left_out(request: ReadingRequest, reading: Grounded) -> tuple[str, ...]:
    """What the command says and the reading does not: any word that matters, in another language than English numbers
    and the names of things."""
    parts = (reading.task, *(constraint.words for constraint in reading.constraints))
    if is_english(request.command):
        return left_over(request.command, parts)
    formulas = map(str, (reading.formula, *reading.goals))
    return names_left_over(request.command, request.scene.names, (*parts, *formulas))


def _adds(constraint: Constraint, request: ReadingRequest) -> tuple[str, ...]:
    """What a constraint speaks of though nobody has."""
    if request.propositions:
        return ()
    return unnamed(named_by(constraint, request.scene), _said(request), request.scene)


def _otherwise(reading: Grounded, request: ReadingRequest) -> tuple[str, ...]:
    """What it says otherwise than the command."""
    if request.propositions:
        return ()
    return unfaithful(reading, request.command, _said(request), request.scene)


def _said(request: ReadingRequest) -> tuple[str, ...]:
    return (request.command, *(exchange.command for exchange in request.exchanges))


def _is_likely(reading: Reading) -> bool:
    return reading.log_probability is not None and reading.log_probability >= SURE


class _Poll:
    """Asks for readings, no more than the vote needs, and counts them by meaning."""

    def __init__(self, request: ReadingRequest, model: LanguageModel, meanings: Meanings) -> None:
        self._request, self._model, self._meanings = request, model, meanings
        self._rounds = 0
        self._mended: dict[Reading, Reading] = {}

    def held(self, samples: int) -> Vote:
        """One reading, then as many as make a majority with it, then the rest: until the vote is over."""
        vote = Vote(samples)
        for wanted in (1, samples // 2, samples - samples // 2 - 1) if samples > 1 else (1,):
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
                reading, first = self._repaired(reading, error), first and self._model.is_large
                grounded = self._grounded(reading, insisted=self._model.is_large)
            except InputError as again:
                return replace(vote, failed=(*vote.failed, str(again)))
        sure = first and (self._is_plain(reading) or _is_likely(reading))
        return replace(count(vote, grounded, self._meanings.same), sure=vote.sure or sure)

    def _is_plain(self, reading: Reading) -> bool:
        """Whether a large model sees no other way to read it and it has no rule to get wrong, or is a question."""
        return self._model.is_large and (bool(reading.question) or (reading.sure and not reading.constraints))

    def _grounded(self, reading: Reading, insisted: bool = False) -> Grounded:
        """The reading in this scene; what a large model leaves out goes back to it like any other fault."""
        request = self._request
        grounded = ground(reading, request.scene, request.propositions, insisted)
        if not self._model.is_large:
            return replace(grounded, content=same_task(grounded.task))
        if words := () if reading.question else _left_out(request, grounded):
            raise InputError(
                f"nothing in it stands for {', '.join(map(repr, words))}: say in the task, or in the words of a "
                "constraint, what the command says of that, in the command's own words"
            )
        for constraint in grounded.constraints:
            if not is_quoted(constraint, request.command):
                raise InputError(
                    f"“{constraint.words}” is not said in the command: give the command's own words for a constraint, "
                    "and no constraint that nobody asked for"
                )
            if not insisted and (names := _adds(constraint, request)):
                raise InputError(
                    f"the command does not speak of {', '.join(map(repr, names))}, but {constraint.formula} does: "
                    "leave out what nobody asked for"
                )
        if not insisted and (otherwise := () if reading.question else _otherwise(grounded, request)):
            raise InputError("; ".join(otherwise))
        return replace(grounded, content=frozenset(names_in(plain(grounded.task), request.scene)))

    def _drawn(self, wanted: int) -> tuple[Reading, ...]:
        """So many new readings; the model's best is the first of all."""
        request = replace(self._request, samples=wanted, seed=self._request.seed + self._rounds, drawn=self._rounds > 0)
        self._rounds += 1
        return self._asked(request)

    def _repaired(self, reading: Reading, error: InputError) -> Reading:
        """The model's second try, once it has heard what was wrong; asked once for readings that are alike."""
        if reading not in self._mended:
            attempt = as_attempt(reading, error)
            self._mended[reading] = self._asked(replace(self._request, attempts=(attempt,)))[0]
        return self._mended[reading]

    def _asked(self, request: ReadingRequest) -> tuple[Reading, ...]:
        reply = self._model.read_command(request)
        if not reply.readings and not request.drawn:
            raise LanguageModelError(f"the language model {self._model.name} gave no reading of {request.command!r}")
        return reply.readings
