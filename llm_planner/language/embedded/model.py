"""Embedded model as a `LanguageModel`: one reading of a command gives its program, rules and goals.

`command_of` and `requirements_of` convert the terms of a reading into a policy program and formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.embedded.command_forms import SPECIFICATIONS
from llm_planner.language.embedded.forms import Term, Value, Words
from llm_planner.language.embedded.formulas import specification
from llm_planner.language.embedded.programs import program
from llm_planner.language.embedded.reader import (
    EmbeddedReader,
    Situation,
    TableNames,
    Task,
    TermReading,
    load_reader,
    plain,
    situation_of,
)
from llm_planner.language.embedded.states import States
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.named_calls import parts_of
from llm_planner.language.grounding.naming import Phrase, proposition_phrases, scene_phrases
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingReply,
    ReadingRequest,
)
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.formula import conj
from llm_planner.ltl.parser import parse
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import Scene

OF_PLACES = frozenset(("visit", "sequence", "ordered"))  # goals that are places to visit one after the other
_GOALS = frozenset((
    "visit", "sequence", "ordered", "strictly", "patrol", "at_least", "exactly", "at_least_steps", "exactly_steps",
    "within", "lasting", "finish", "next",
))  # fmt: skip


@dataclass(frozen=True)
class Command:
    """Content of a command: the `program` ("" for none), and its rules and goals."""

    program: str = ""
    constraints: tuple[ReadConstraint, ...] = ()


def command_of(terms: Sequence[Term], command: str, scene: Scene) -> Command:
    """Convert the terms of a command into a program and formulas.

    Args:
        terms: Parsed result of the command task.
        command: Text of the command.
        scene: Scene that its words refer to.

    Raises:
        QuestionError: The terms are unclear or impossible, or refer to what is not in the scene.
    """
    _check_understood(terms, command)
    here = Resolver(command, scene)
    statements = _statements(terms, here)
    return Command(
        program(statements, here) if statements else "",
        _constraints([term for term in terms if term.name in SPECIFICATIONS], command, States(here)),
    )


def requirements_of(terms: Sequence[Term], sentence: str, propositions: Sequence[str]) -> tuple[ReadConstraint, ...]:
    """Convert terms about bare `propositions` into formulas; raise QuestionError for an unknown proposition."""
    _check_understood(terms, sentence)
    return _constraints(terms, sentence, States(Resolver(sentence, Scene(0.0, ())), tuple(propositions)))


def _statements(terms: Sequence[Term], here: Resolver) -> list[Term]:
    """Return the statements of a program, with goals in a building replaced by the statements that achieve them.

    The statements say more than the formulas: a delivery ends with a hand-over, a stay becomes a wait. Goals remain
    formulas alone if one of them has no such statements.
    """
    goals = {term: _errand(term, here) for term in terms if term.name in _GOALS} if here.can_go else {}
    reached = goals if all(goals.values()) else {}
    return [one for term in terms for one in reached.get(term, () if term.name in SPECIFICATIONS else (term,))]


def _errand(goal: Term, here: Resolver) -> tuple[Term, ...]:
    match goal:
        case Term(name, states) if name in OF_PLACES:
            errands = tuple(map(errand_of, states))
            if here.scene.base is not None and {one.name for one in errands} == {"go"}:
                return errands
            names, places = {one.name for one in errands}, [one.arguments[1] for one in errands if one.name == "bring"]
            to_somebody = any(isinstance(one, Words) and here.refer(one.text).entry == "person" for one in places)
            return errands if to_somebody and "visit" not in names else ()
        case Term("lasting", (time, Term("in" | "near", (Words() as place,)) as there)):
            state = parse_proposition(States(here).state(there).name)
            is_there = holds(state, Moment(here.scene))
            return (*(() if is_there else (Term("go", (place,)),)), Term("wait", (time,)))
    return ()


def errand_of(state: Value) -> Term:
    """Return the statement that achieves a state in a building; a term `visit` if there is none."""
    match state:
        case Term("is_in", (Term("each", (things,)), place)):
            return Term("each", (things, Term("bring", (Term("item"), place))))
        case Term("is_in", (Words() as thing, Words() as place)):
            return Term("bring", (thing, place))
        case Term("and", (Term("holding", (Words() as thing,)), Term("near", (Words() as who,)))):
            return Term("bring", (thing, who))
        case Term("in" | "near", (Words() as place,)):
            return Term("go", (place,))
    return Term("visit", (state,))


def _check_understood(terms: Sequence[Term], command: str) -> None:
    if terms[0].name == "unclear":
        raise QuestionError(f'I did not understand "{command}". Please say what should happen, or what must not.')
    if terms[0].name == "cannot":
        raise QuestionError(f'I cannot do that: "{command}". What should I do instead?')


def _constraints(terms: Sequence[Term], command: str, states: States) -> tuple[ReadConstraint, ...]:
    formulas = ((term.name, specification(term, states)) for term in terms)
    return tuple(ReadConstraint(str(formula), command, name in _GOALS) for name, formula in formulas)


# Probabilities of a reading.
SURE = 0.6  # from here on the robot acts on it
POSSIBLE = 0.25  # from here on it is proposed to the person
CERTAIN = 0.95  # from here on it may omit names said in passing: "the blue, no, the green one", "Ben has asked for it"
OF_REQUIREMENTS = 0.9  # like SURE, for requirements over propositions, whose wording varies more
SLIGHT = 0.03  # below it a reading is ignored
_AT = re.compile(r"^line \d+, column \d+: ")
_OF_THE_PROGRAM = re.compile(r"the program|there is no function")  # problems that only a programmer can solve
_MOMENT = re.compile(r"(?:a|one|half a) \w+")  # "hang on a second" is not an amount
# "as well" only refers to what came before
_BESIDES = re.compile(r",?\s*\b(?:also|(?:too|as well)(?=\s*(?:$|[.,;!?])))\b", re.IGNORECASE)
EXAMPLES = 'For instance: "put the red block in the green bowl" or "stack all the blocks".'


class EmbeddedModel:
    """Embedded language model with 29 million weights: deterministic, offline, about 0.1 s per command.

    Args:
        reader: Reads words as terms.
        least: Probability from which it acts on a reading; below it asks a question.
        guesses: Whether it acts on a reading that omits a name or an amount of the command.
    """

    name = "embedded"
    chooses = False
    is_large = False

    def __init__(self, reader: EmbeddedReader, least: float = SURE, guesses: bool = False) -> None:
        self.reader, self.least, self.guesses = reader, least, guesses

    @property
    def guess(self) -> EmbeddedModel | None:
        """See `LanguageModel`."""
        return None if self.guesses else EmbeddedModel(self.reader, min(self.least, POSSIBLE), guesses=True)

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """Return the most probable reading, or a question if its probability is too low."""
        try:
            if request.propositions:
                found = self._meant(Task.RULE, request.command, request.scene, request.propositions)
            else:
                found = self._commanded(request)
        except QuestionError as question:
            return ReadingReply((Reading(question=str(question), log_probability=0.0),))
        reading = Reading(request.command if found.program else "", found.constraints, "", 0.0, whole=True)
        if str(reading) in {attempt.program for attempt in request.attempts}:
            return ReadingReply((Reading(question=_unsure(request.command, request.scene), log_probability=0.0),))
        return ReadingReply((reading,))

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """Return the program of the command's reading, or a question if there is none or it was refused.

        A request to define a function gets an empty program.
        """
        if request.function is not None:
            return ProgramReply()
        try:
            found = self._commanded(request)
        except QuestionError as question:
            return ProgramReply(question=str(question))
        if not found.program:
            return ProgramReply(question=_unsure(request.command, request.scene))
        for attempt in request.attempts:
            if attempt.program == found.program:
                problems = (_AT.sub("", problem) for problem in attempt.problems)
                told = "; ".join(one for one in problems if not _OF_THE_PROGRAM.match(one))
                why = f": {told}" if told else " here. What should I do instead?"
                return ProgramReply(question=f'I cannot do "{request.command.strip()}"{why}')
        return ProgramReply(program=found.program, confidence=min(1.0, found.probability))

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """Return equal values, because this model only reads sentences."""
        return ChoiceReply((0.0,) * len(request.options))

    def _commanded(self, request: ReadingRequest | ProgramRequest) -> _Meaning:
        """Return the meaning of a command, in which clauses may call skills that do not ship by their names."""
        found: _Meaning | None = None
        for part in parts_of(request.command, request.skills, request.scene):
            called = _Meaning(TermReading((), 1.0), f"{part.call}\n")
            one = called if part.call else self._of_tables(part.words, request.scene)
            found = found.followed_by(one) if found else one
        assert found is not None  # a command has words
        return found

    def _of_tables(self, words: str, scene: Scene) -> _Meaning:
        """Return the meaning of a command, in which the tables of an arm that drives are trays for the network."""
        names = TableNames.of(scene)
        return names.read(words, scene, partial(self._meant, Task.COMMAND)).renamed(names.restored)

    def _meant(self, task: Task, words: str, scene: Scene, propositions: Sequence[str] = ()) -> _Meaning:
        """Return the meaning to act on; raise QuestionError if there is none.

        If the words are unsure as a command, they are also read as a rule, and then without "also" or "as well".
        """
        try:
            best = self._best(task, words, scene, propositions)
            if task is Task.COMMAND and not self._is_sure(best):
                rule = self._best(Task.RULE, words, scene, propositions)
                best = rule if self._is_sure(rule) else best
                alone = _BESIDES.sub("", words)
                if not self._is_sure(best) and alone.strip() and alone != words:
                    return self._meant(task, alone, scene)
        except LanguageModelError as error:
            raise QuestionError(f"{error}. {EXAMPLES}") from error
        if best is None or best.probability < (max(self.least, OF_REQUIREMENTS) if propositions else self.least):
            raise QuestionError(_unsure(words, scene))
        names = proposition_phrases(propositions) if propositions else scene_phrases(scene)
        if not (self.guesses or _asks(best.reading)) and (lost := not_said(best.reading, words, names, scene)):
            raise QuestionError(f"I do not know what to do about “{lost}”. Please say that part in another way.")
        if best.question is not None:
            raise best.question
        return best

    def _best(self, task: Task, words: str, scene: Scene, propositions: Sequence[str]) -> _Meaning | None:
        """Return the most probable meaning; readings with the same program and equivalent formulas are merged."""
        situation = Situation(propositions=tuple(propositions)) if propositions else situation_of(scene)
        found: list[tuple[_Meaning, _Meaning]] = []  # the form for comparison, and the meaning
        for reading in self.reader.read(task, situation, words):
            if found and reading.probability < SLIGHT:
                break
            meaning = _meaning(reading, words, scene, propositions)
            in_rooms = not propositions and scene.building is not None
            compared = _meaning(_as_errands(reading), words, scene, ()) if in_rooms else meaning
            for number, (known, before) in enumerate(found):
                if _equivalent(known, compared):
                    found[number] = (known, before.with_other(meaning))
                    break
            else:
                found.append((compared, meaning))
        return max((meaning for _, meaning in found), key=lambda one: one.probability, default=None)

    def _is_sure(self, meaning: _Meaning | None) -> bool:
        return meaning is not None and meaning.probability >= self.least and not _asks(meaning.reading)


@dataclass(frozen=True)
class _Meaning:
    """Meaning of one or more readings: a program and constraints, or a question."""

    reading: TermReading
    program: str = ""
    constraints: tuple[ReadConstraint, ...] = ()
    question: QuestionError | None = None

    @property
    def probability(self) -> float:
        """Total probability of the readings with this meaning."""
        return self.reading.probability

    def with_other(self, other: _Meaning) -> _Meaning:
        """Merge an equivalent meaning: unite the copied spans, add the probabilities, prefer the one with an order."""
        ours, theirs = self.reading, other.reading
        spans, probability = ours.spans + theirs.spans, ours.probability + theirs.probability
        meant = other if _in_any_order(ours) and not _in_any_order(theirs) else self
        return replace(meant, reading=replace(meant.reading, spans=spans, probability=probability))

    def renamed(self, rename: Callable[[str], str]) -> _Meaning:
        """Return the meaning with other names in its program and formulas."""
        constraints = (replace(one, formula=rename(one.formula), words=rename(one.words)) for one in self.constraints)
        return replace(self, program=rename(self.program), constraints=tuple(constraints))

    def followed_by(self, other: _Meaning) -> _Meaning:
        """Join the meanings of two parts of a command."""
        probability = min(self.probability, other.probability)
        reading = TermReading(self.reading.terms + other.reading.terms, probability)
        constraints = self.constraints + other.constraints
        return _Meaning(reading, f"{self.program}{other.program}", constraints)


def _as_errands(reading: TermReading) -> TermReading:
    """Replace goals by statements in the order of the text, so that all readings of "A, then B" compare equal."""
    terms = ((map(errand_of, term.arguments) if term.name in OF_PLACES else (term,)) for term in reading.terms)
    return replace(reading, terms=tuple(one for some in terms for one in some))


def _in_any_order(reading: TermReading) -> bool:
    """Return whether the reading leaves the order of several goals open."""
    visited = [one for term in reading.terms if term.name == "visit" for one in term.arguments]
    return len(visited) > 1


def _equivalent(one: _Meaning, other: _Meaning) -> bool:
    """Return whether two meanings have the same program or question and provably equivalent formulas."""
    if (one.program, str(one.question)) != (other.program, str(other.question)):
        return False
    if one.constraints == other.constraints:
        return True
    first, second = (conj(*(parse(each.formula) for each in meaning.constraints)) for meaning in (one, other))
    return {*first.propositions} == {*second.propositions} and Meanings(Scene(0.0, ()), bare=True).same(first, second)


def _meaning(reading: TermReading, words: str, scene: Scene, propositions: Sequence[str]) -> _Meaning:
    try:
        if propositions:
            return _Meaning(reading, constraints=requirements_of(reading.terms, words, propositions))
        found = command_of(reading.terms, words, scene)
    except QuestionError as question:
        return _Meaning(reading, question=question)
    return _Meaning(reading, found.program, found.constraints)


def _asks(reading: TermReading) -> bool:
    return reading.terms[0].name in ("unclear", "cannot")


def not_said(
    reading: TermReading, words: str, names: Sequence[Phrase], scene: Scene, concerned: Collection[str] = ()
) -> str:
    """Find a name or an amount in the words that the reading omits.

    The kinds of named objects and their rooms count as covered: "the blocks: red, blue, green".

    Args:
        reading: Reading with the spans that it copies.
        words: Utterance.
        names: Phrases to look for.
        scene: Scene of the objects.
        concerned: Further names that the outcome of the reading affects.

    Returns:
        The omitted text, "" for none.
    """
    said, done = plain(words), {term.name for term in reading.terms}
    lifted = lift(said, names, slips=False)
    covered = [word for word in lifted if reading.covers(word.start, word.end)]
    named = {word.name for word in covered if word.name} | {*concerned}
    about = {(word.name, word.plural) for word in covered}
    things = [item for item in scene.objects if {item.name, item.color, item.kind} & named]
    rooms = {scene.building.room_at(*item.position[:2]) for item in things} if scene.building else set()
    about |= {(name, False) for name in (*concerned, *(item.kind for item in things), *rooms)}
    for word in lifted:
        text = said[word.start : word.end]
        is_moment = word.segment == "seconds" and _MOMENT.fullmatch(text) is not None
        is_amount = word.segment in ("quantity", "speed", "seconds") and not is_moment
        is_known = {(word.name, word.plural), (word.name, False)} & about  # one mention is enough
        in_passing = reading.probability >= CERTAIN and word.segment != "prop"
        is_name = bool(word.name) and not {text, word.name} & done and not is_known and not in_passing
        if (is_name or is_amount) and not reading.covers(word.start, word.end):
            return text
    return ""


def _unsure(command: str, scene: Scene) -> str:
    seen = ", ".join(scene.names) or "nothing"
    return f'I am not sure what you mean by "{command.strip()}". Please say it another way. I see: {seen}.'


@lru_cache(maxsize=1)
def load_model() -> EmbeddedModel:
    """Load the model of this package; raise LanguageModelError if its weights are missing."""
    return EmbeddedModel(load_reader())
