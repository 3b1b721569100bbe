"""From a command to its task and constraints, sure enough to act on, or a question; nothing is dropped on the way.

What nobody may have done to a person, in whatever words the rest of the command comes.

A command that is written as a formula is taken at its word; no model reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import log

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import (
    CountedModel,
    Exchange,
    LanguageModel,
    ReadConstraint,
    Reading,
    ReadingRequest,
    Usage,
)
from llm_planner.language.program_synthesis import clean_command
from llm_planner.language.understanding import vote as questions
from llm_planner.language.understanding.constraint_checks import is_quoted, named_by, unfaithful, unnamed
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.language.understanding.grounding import as_attempt, ground
from llm_planner.language.understanding.vote import Grounded, Group, Vote, count
from llm_planner.language.understanding.wording import (
    is_english,
    left_over,
    names_in,
    names_left_over,
    plain,
    same_task,
)
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.ltl.monitor import Monitor
from llm_planner.ltl.parser import parse
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene

_DEEDS = (
    r"hit|hits|hitting|punch|kick|slap|hurt|harm|injure|attack|stab|ram|crush|strike|kill|smash|trip up|trip|scare"
    r"|(?:drive|run|crash|bump|smash|roll|push|shove) (?:into|over)|knock (?:over|down)|pick up|lift|grab|shove"
)
_ANYBODY = "somebody|someone|anybody|anyone|everybody|everyone|people|person|child|baby|him|her|them|me|us"
_DENIED = re.compile(r"\b(?:not|never|no|dont|cannot|cant|mustnt|shouldnt|without|avoid|nor|neither|nobody|careful)\b")
_CLAUSE = re.compile(r"[.,;:!?]|\b(?:and|but|then)\b")


def check_harmless(command: str, scene: Scene) -> None:
    """Raises InputError when a clause, none that denies it, asks for a person to be hit, run over or lifted."""
    people = [plain(item.name) for item in scene.objects if item.kind == "person"]
    named = "|".join(map(re.escape, people))
    wanted = re.compile(rf"\b({_DEEDS})\b (?:the |a |an |my |into |over )*({named or _ANYBODY}|{_ANYBODY})\b")
    for clause in _CLAUSE.split(command):
        text = plain(clause)
        found = wanted.search(text)
        if found and not _DENIED.search(text[: found.start()]):
            raise InputError(
                f"“{found[0]}” would harm a person, which this robot does not do; say what should be done instead"
            )


# Nobody types these in a sentence; "&", "|" and arrows somebody may.
_SURE = re.compile(
    r"\[\]|<>|[¬∧∨→↔□◇]|(?:^|[\s(])[!~][\w(]|\b[FGXN]\s?[(\[!~]|\b[FGXN] [FGXN]\b|\b[FGXN]{2,3} [\w(!]"
    r"|^[FGX] \w|\b[FGX] \w+\("
)
_ENGLISH = re.compile(r"\b(?:the|and|but|then|please|put|pick|never|always|stack|bring|stay|keep)\b")
_MOMENTARY = frozenset({"", "true", "false", "!", "&", "|", "->", "<->"})
_LIKELY = re.compile(r"[&|]|->|=>|\b[UWRM]\b")


def typed(command: str) -> Reading | None:
    """The reading of a command that is a formula, None for a sentence; raises FormulaError where it has an error.

    What it joins by "&" is a constraint each: a goal where a robot that does nothing would miss it.
    """
    sure = bool(_SURE.search(command))
    if not sure and not _LIKELY.search(command):
        return None
    try:
        formula = parse(command)
    except InputError as error:
        if sure and _ENGLISH.search(command):
            raise InputError(
                f"“{command}” mixes a sentence with a formula; say all of it in words, or give the formula alone"
            ) from error
        if sure:
            raise
        return None
    parts = formula.operands if formula.operator == "&" else (formula,)
    words = [command] if len(parts) == 1 else map(str, parts)
    written = [ReadConstraint(str(part), said, _is_missed(part)) for part, said in zip(parts, words, strict=True)]
    return Reading(constraints=tuple(written), log_probability=0.0)


def _is_missed(formula: Formula) -> bool:
    """Whether nothing happening at all would not do. What must hold at every moment from now on is nothing to bring
    about: it holds already, or it is lost."""
    from_now_on = formula.window is None or formula.window[0] == 0
    if formula.operator == "G" and from_now_on and _is_of_one_moment(formula.operands[0]):
        return False
    monitor = Monitor(formula)
    monitor.observe(frozenset(), 0.0)
    return not monitor.accepts


def _is_of_one_moment(formula: Formula) -> bool:
    return formula.operator in _MOMENTARY and all(map(_is_of_one_moment, formula.operands))


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
