"""Understanding of a command: its task and constraints, or a question if they are not sure enough to act on.

No word that matters is dropped. Commands that would harm a person are refused, and a command that is written as a
formula is parsed without a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import log

from llm_planner.errors import InputError, LanguageModelError, QuestionError
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
from llm_planner.language.understanding.constraint_checks import (
    is_quoted,
    named_by,
    opposed,
    turned,
    unfaithful,
    unnamed,
)
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.language.understanding.grounding import (
    Grounded,
    Group,
    Vote,
    as_attempt,
    conflict_question,
    contradiction_question,
    count,
    ground,
    unclear_question,
)
from llm_planner.language.understanding.watchable import unwatched
from llm_planner.language.understanding.wording import (
    full_names_in,
    is_english,
    left_over,
    names_left_over,
    plain,
    same_task,
)
from llm_planner.ltl.formula import TRUE, Constraint, Formula
from llm_planner.ltl.monitor import Monitor
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
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
    """Raise InputError if a clause, unless it is negated, asks to hit, run over or lift a person."""
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


# These do not occur in sentences; "&", "|" and arrows may.
_SURE = re.compile(
    r"\[\]|<>|[¬∧∨→↔□◇]|(?:^|[\s(])[!~][\w(]|\b[FGXN]\s?[(\[!~]|\b[FGXN] [FGXN]\b|\b[FGXN]{2,3} [\w(!]"
    r"|^[FGX] \w|\b[FGX] \w+\("
)
_ENGLISH = re.compile(r"\b(?:the|and|but|then|please|put|pick|never|always|stack|bring|stay|keep)\b")
_MOMENTARY = frozenset({"", "true", "false", "!", "&", "|", "->", "<->"})
_LIKELY = re.compile(r"[&|]|->|=>|\b[UWRM]\b")


def typed(command: str) -> Reading | None:
    """Parse a command that is a formula; return None for a sentence.

    Each conjunct becomes a constraint, and a goal if a robot that does nothing would violate it.

    Raises:
        InputError: The formula has an error, or is mixed with a sentence.
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
    """Return whether inaction violates a formula; False for an invariant, which no action can achieve."""
    from_now_on = formula.window is None or formula.window[0] == 0
    if formula.operator == "G" and from_now_on and _is_of_one_moment(formula.operands[0]):
        return False
    monitor = Monitor(formula)
    monitor.observe(frozenset(), 0.0)
    return not monitor.accepts


def _is_of_one_moment(formula: Formula) -> bool:
    return formula.operator in _MOMENTARY and all(map(_is_of_one_moment, formula.operands))


SAMPLES = 5
LARGE_SAMPLES = 3  # for a large model; two that agree are enough
TEMPERATURE = 0.7
SURE = log(0.95)  # log-probability of a first reading from which no other is requested


@dataclass(frozen=True)
class Understood:
    """Meaning of a command: the words of the task ("" for none), the constraints, the vote and the cost.

    `goals` hold in the last scene once the task is done; () if the model states none.
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
    """Determine the meaning of a command by a vote over readings of a language model.

    Args:
        command: The person's words, or a formula.
        scene: Scene that the command refers to.
        model: Language model. If it is sure of its first reading, no other is requested.
        samples: Number of readings; at most `LARGE_SAMPLES` for a large model.
        temperature: Sampling temperature of the readings after the first.
        seed: Seed of the samples.
        propositions: Bare propositions to use instead of the scene.
        exchanges: Earlier commands, the newest last.
        skills: Skills of the robot.
        viewpoint: Where the person stands.

    Raises:
        QuestionError: There is no majority, or its reading is a question, omits words of the command, adds or
            contradicts something, or cannot be fulfilled.
        InputError: The command is too long, is a faulty formula, or would harm a person.
        LanguageModelError: The model cannot answer.
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
        raise conflict_question([constraints[index] for index in clash])
    return replace(understood, usage=counted.usage)


def _read(request: ReadingRequest, model: LanguageModel, meanings: Meanings, samples: int) -> Understood:
    """Parse a formula, or let the model read the command."""
    written = typed(request.command)
    if written is not None:
        grounded = ground(written, request.scene, request.propositions)
        return Understood("", grounded.constraints, Vote(1, (Group(grounded, has_best=True),), sure=True))
    vote = _Poll(request, model, meanings).held(samples)
    if not vote.decided or vote.groups[0].reading.question:
        raise unclear_question(vote)
    reading = vote.groups[0].reading
    if words := _left_out(request, reading):
        quoted = ", ".join(f"“{word}”" for word in words)
        raise QuestionError(
            f"I do not know what to do about {quoted}. Please say that part in another way, or leave it out."
        )
    for constraint in () if request.propositions else reading.constraints:
        if not constraint.goal and meanings.same(constraint.formula, TRUE):
            raise QuestionError(  # nothing can break the rule
                f"I would understand “{constraint.words}” as: {read_back(constraint.formula)}. That is so whatever the "
                "robot does. What should it not do?"
            )
    for constraint in reading.constraints if model.is_large else ():
        if _adds(constraint, request):
            raise QuestionError(
                f"I understood also that {read_back(constraint.formula)}. You have not named all of that: please say "
                "it if you mean it."
            )
    if not request.propositions and (unseen := unwatched(request.command, request.scene, request.skills)):
        raise QuestionError(unseen)
    if otherwise := _contradictions(reading, request, model.is_large):
        raise contradiction_question(otherwise, reading)
    return Understood(reading.task, reading.constraints, vote, goals=reading.goals)


def _left_out(request: ReadingRequest, reading: Grounded) -> tuple[str, ...]:
    """Return the words of the command that a reading omits; outside English only numbers and names."""
    parts = (reading.task, *(constraint.words for constraint in reading.constraints))
    if is_english(request.command):
        return left_over(request.command, parts)
    formulas = map(str, (reading.formula, *reading.goals))
    return names_left_over(request.command, request.scene.names, (*parts, *formulas))


def _adds(constraint: Constraint, request: ReadingRequest) -> tuple[str, ...]:
    """Return the names in a constraint that the person did not mention."""
    return () if request.propositions else unnamed(named_by(constraint, request.scene), _said(request), request.scene)


def _contradictions(reading: Grounded, request: ReadingRequest, is_large: bool) -> tuple[str, ...]:
    """Describe how a reading contradicts the command; that of a small model only where its formulas reverse it.

    A task of a small model without any formula may keep what is denied.
    """
    if request.propositions:
        return ()
    if is_large:
        return unfaithful(reading, request.command, _said(request), request.scene)
    rules = [one.formula for one in reading.constraints if not one.goal]
    otherwise = (found for rule in rules for found in turned(rule, request.command, request.scene))
    return (*(opposed(reading.formula, request.command) if reading.constraints else ()), *otherwise)


def _said(request: ReadingRequest) -> tuple[str, ...]:
    return (request.command, *(exchange.command for exchange in request.exchanges))


class _Poll:
    """Poll of a model that requests as few readings as the vote needs."""

    def __init__(self, request: ReadingRequest, model: LanguageModel, meanings: Meanings) -> None:
        self._request, self._model, self._meanings = request, model, meanings
        self._rounds = 0
        self._mended: dict[Reading, Reading] = {}

    def held(self, samples: int) -> Vote:
        """Request one reading, then enough for a majority, then the rest, until the vote is over."""
        vote = Vote(samples)
        for wanted in (1, samples // 2, samples - samples // 2 - 1) if samples > 1 else (1,):
            if wanted and not vote.over:
                seed = self._request.seed + self._rounds
                request = replace(self._request, samples=wanted, seed=seed, drawn=self._rounds > 0)
                self._rounds += 1
                for reading in self._asked(request):
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
        is_likely = reading.log_probability is not None and reading.log_probability >= SURE
        is_plain = bool(reading.question) or (reading.sure and not reading.constraints)
        sure = first and (is_likely or (self._model.is_large and is_plain))
        return replace(count(vote, grounded, self._meanings.same), sure=vote.sure or sure)

    def _grounded(self, reading: Reading, insisted: bool = False) -> Grounded:
        """Ground a reading; raise InputError for faults, including those of a large model against the command."""
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
        if not (insisted or reading.question) and (otherwise := _contradictions(grounded, request, is_large=True)):
            raise InputError("; ".join(otherwise))
        return replace(grounded, content=frozenset(full_names_in(plain(grounded.task), request.scene)))

    def _repaired(self, reading: Reading, error: InputError) -> Reading:
        """Request a repaired reading; equal readings are repaired once."""
        if reading not in self._mended:
            attempt = as_attempt(reading, error)
            self._mended[reading] = self._asked(replace(self._request, attempts=(attempt,)))[0]
        return self._mended[reading]

    def _asked(self, request: ReadingRequest) -> tuple[Reading, ...]:
        reply = self._model.read_command(request)
        if not reply.readings and not request.drawn:
            raise LanguageModelError(f"the language model {self._model.name} gave no reading of {request.command!r}")
        return reply.readings
