"""Reader of corrections: stop words and reflexes are matched exactly, all else is read by a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llm_planner.corrections.building import Pending, Requests, build
from llm_planner.corrections.edit_checks import contradicts, unsaid_amount
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Clarify,
    Edit,
    Hold,
    Operation,
    Remember,
    Remove,
    Resume,
)
from llm_planner.corrections.references import MOST_OPTIONS, answered, listed
from llm_planner.corrections.reflexes import in_words, ordinals, plain_words, read_reflex
from llm_planner.corrections.situation import Situation, Sources, concerned, sources_with
from llm_planner.errors import LanguageModelError
from llm_planner.language.correction_requests import Intent, requests_of
from llm_planner.language.embedded.model import not_said
from llm_planner.language.embedded.reader import EmbeddedReader, Task, TermReading, load_reader, plain, situation_of
from llm_planner.language.factory import open_model
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.model import LanguageModel
from llm_planner.language.stop_words import Stop, before_the_stop, heard_stop
from llm_planner.language.understanding.watchable import unwatched
from llm_planner.language.understanding.wording import denies, sign

SURE = 0.85  # probability from which an edit needs no question
POSSIBLE = 0.25  # probability from which a meaning is offered
OFFERED = 0.15  # minimum probability of an option
SLIGHT = 0.03  # readings below this probability are ignored
DOUBTED = 0.5  # share of the probability of senseless meanings that shifts to sensible ones
TALK = 0.5  # probability from which words are not a correction
LONGEST_CLAUSE = 7  # words of an answer that mentions an option
_ANY = frozenset(("either", "any", "whichever"))
_OF_ANY = frozenset(("one", "of", "them", "the", "two", "you", "like", "will", "do", "is", "fine"))
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))
_ARTICLES = frozenset(("the", "a", "an", "one", "ones", "that", "this"))
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")  # "1,5 cm"; other commas are pauses


@dataclass(frozen=True)
class CorrectionReader:
    """Reader of utterances while a plan runs.

    Args:
        sources: Sources of rules and steps; by default they query `model`, or else the embedded model.
        other: Reads what is not a stop, a reflex or an answer; the embedded model by default.
        model: Language model for the default sources.
    """

    sources: Sources | None = None
    other: Callable[[str, Situation], Edit] | None = None
    model: LanguageModel | None = None

    def read(self, words: str, situation: Situation) -> Edit:
        """Return the edit that the words ask for, made for the situation's version of the plan.

        The edit is empty if the words are not a correction. It contains a `Clarify`, alone or after a `Hold`, if only
        the person can resolve the meaning. Raises LanguageModelError if the language model cannot be queried.
        """
        stop = heard_stop(words)
        if stop is Stop.ONLY:
            return Edit((Cancel(),), words, situation.version)
        if stop is not Stop.NONE:
            return _held(self._rest(words, situation), stop)
        edit = self._rest(words, situation)
        begun = before_the_stop(words)
        if not begun or (edit.operations and all(isinstance(one, Cancel | Hold | Remove) for one in edit.operations)):
            return edit  # "finish this one and stop"
        if self._rest(begun, situation).operations:
            return Edit((Cancel(),), words, situation.version)  # "slower, and stop"
        return edit

    def _rest(self, words: str, situation: Situation) -> Edit:
        """Read words that are not a plain stop; a speed of zero becomes a hold."""
        said, asked = _DECIMAL_COMMA.sub(".", words), situation.asked
        sources = self.sources or sources_with(self.model, tuple(situation.skills.values()), situation.viewpoint)
        if asked is not None and not isinstance(asked.pending, Pending) and (number := chosen(said, asked)) is not None:
            return replace(self._rest(asked.options[number], replace(situation, asked=None)), words=words)
        edit = read_exactly(said, situation, sources)
        if edit is None:
            other = self.other or EmbeddedCorrections(load_reader(), sources).read
            edit = other(said, situation)
            if asked is not None and not edit.operations and (number := mentioned(said, asked)) is not None:
                return replace(self._rest(asked.options[number], situation), words=words)
        stops = any(isinstance(one, Cancel) for one in edit.operations)
        operations = (Cancel(),) if stops else tuple(map(_held_at_nothing, edit.operations))
        return replace(edit, operations=operations, words=words)


def _held(edit: Edit, stop: Stop) -> Edit:
    """Add a `Hold` to the edit of words that contain a stop, before it if it asks.

    After an exclamation, or a stop of removed steps, the robot goes on instead.
    """
    if any(isinstance(one, Cancel | Hold) for one in edit.operations):
        return edit
    if not edit.operations or edit.asks:
        return replace(edit, operations=(Hold(), *edit.operations))
    if stop is Stop.OF_SOMETHING and all(isinstance(one, Remove) for one in edit.operations):
        return replace(edit, operations=(*edit.operations, Resume()))
    return edit if stop is Stop.EXCLAIMED else replace(edit, operations=(*edit.operations, Hold()))


def _held_at_nothing(operation: Operation) -> Operation:
    match operation:
        case Adjust("speed", Change.SET, value) if value <= 0.0:
            return Hold()
        case _:
            return operation


def open_reader(model: str = "embedded", hear: Callable[[dict[str, object]], None] | None = None) -> CorrectionReader:
    """Return the reader for a language model: `embedded`, which is included, or `openai`, a server.

    `hear` is called with each request to a server, as by `open_model`. Raises InputError like `open_model`.
    """
    if model == "embedded":
        return CorrectionReader()
    language_model = open_model(model, hear=hear)
    from llm_planner.corrections.large_model_reader import LanguageReader
    from llm_planner.language.server.connection import Connection, settings_from_environment, unheard

    connection = Connection(settings_from_environment(), hear=hear or unheard)
    return CorrectionReader(other=LanguageReader(connection).read, model=language_model)


def read_exactly(words: str, situation: Situation, sources: Sources) -> Edit | None:
    """Read a reflex or an answer to the open question; return None if the words are neither."""
    asked = situation.asked
    request = read_reflex(words, asked is not None)
    if asked is not None:
        meant = _answer(words, asked, situation)
        if meant is not None:
            return build(meant, words, replace(situation, asked=None), sources)
        if request is not None and request.intent is Intent.OPTION:
            return Edit((asked,), words, situation.version)
        if request is not None and request.intent is Intent.NO and isinstance(asked.pending, Pending):
            return Edit((Clarify("Please say it in other words."),), words, situation.version)
    return build((request,), words, situation, sources) if request is not None else None


def _answer(words: str, asked: Clarify, situation: Situation) -> Requests | None:
    """Return the requests that an answer completes; None if the words do not answer the open question."""
    if not isinstance(asked.pending, Pending):
        return None
    number = chosen(words, asked)
    if number is not None and number < len(asked.pending.choices):
        return asked.pending.choices[number]
    if asked.pending.fill is None:
        return None
    found = answered(words, situation.scene, situation.viewpoint)
    return asked.pending.fill(found[0].name) if len(found) == 1 else None


def chosen(words: str, asked: Clarify) -> int | None:
    """Return the index of the option that the words select by number, in full or in part; None for none or several."""
    request = read_reflex(words, asked=True)
    if request is not None and request.intent is Intent.OPTION:
        return _numbered(request.text, asked)
    if request is not None and request.intent is Intent.YES and len(asked.options) == 1:
        return 0
    said = set(plain_words(words).split()) - _ARTICLES
    fitting = [n for n, option in enumerate(asked.options) if said and said <= set(plain_words(option).split())]
    is_yes_or_no = {*asked.options} <= {"yes", "no"}
    return fitting[0] if len(fitting) == 1 and len(asked.options) > 1 and not is_yes_or_no else None


def _numbered(which: str, asked: Clarify) -> int | None:
    """Return the index of the option with a number from 1 on, or of the "last" one; None if there is no such option."""
    number = len(asked.options) if which == "last" else int(which)
    return number - 1 if 0 < number <= len(asked.options) else None


def mentioned(words: str, asked: Clarify) -> int | None:
    """Return the index of the only option that a short first clause mentions by what sets it apart; None for none.

    "The yellow one, naturally" selects "the yellow block" of a blue and a yellow one, and so does "uh, the second one";
    "either" selects the first.
    """
    clause = words.partition(",")[0]
    said = plain_words(clause).split()
    is_yes_or_no = {*asked.options} <= {"yes", "no"}
    if not _ANY.isdisjoint(said) and set(said) <= _ANY | _OF_ANY and not is_yes_or_no:
        return 0
    options = [set(plain_words(option).split()) - _ARTICLES for option in asked.options]
    if "?" in words or denies(clause) or len(said) > LONGEST_CLAUSE or len(options) < 2:
        return None
    if len(numbers := ordinals(clause)) == 1 and not is_yes_or_no:
        return _numbered(numbers.pop(), asked)
    apart = [option.difference(*(other for other in options if other is not option)) for option in options]
    fitting = [number for number, own in enumerate(apart) if own and own <= set(said)]
    return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True)
class EmbeddedCorrections:
    """Reader of corrections with the embedded model; it asks if no meaning is probable enough."""

    reader: EmbeddedReader
    sources: Sources

    def read(self, words: str, situation: Situation) -> Edit:
        """Return the edit; it is empty if the words are not a correction, and a `Clarify` if they are unclear."""
        unclear = Clarify(f"I am not sure what you mean by “{words}”. Please say it in another way.")
        now = situation.running
        step = (now.skill, *(one for one in now.arguments.values() if isinstance(one, str))) if now else ()
        try:
            readings = self.reader.read(Task.CORRECTION, situation_of(situation.scene, " ".join(step)), words)
        except LanguageModelError:  # no words or too many
            operations = (unclear,) if words.strip() else ()
            return Edit(operations, words, situation.version)
        talk = sum(one.probability for one in readings if _is_talk(one))
        meanings = self._meanings(readings, words, situation)
        if talk >= TALK or talk > max((one.probability for one in meanings), default=0.0):
            return Edit((), words, situation.version)
        if not meanings or meanings[0].probability < POSSIBLE:
            return Edit((unclear,), words, situation.version)
        sensible = _sensible(meanings)
        if not sensible:
            return meanings[0].edit
        best = sensible[0]
        if best.edit.asks or not best.edit.operations:
            return best.edit
        names, about = scene_phrases(situation.scene), concerned(best.edit, situation)
        factors = [one.value for one in best.edit.operations if isinstance(one, Adjust) and one.change is Change.SCALE]
        is_turned = sign(words, "speed") < 0 and any(factor > 1.0 for factor in factors)
        lost = not_said(best.reading, words, names, situation.scene, about)
        if unseen := unwatched(words, situation.scene, situation.skills.values()):
            return Edit((Clarify(unseen),), words, situation.version)
        if best.probability >= SURE and not (
            lost or is_turned or contradicts(best.edit, words, situation) or unsaid_amount(best.edit, situation)
        ):
            return best.edit
        offered = {one.said: one.requests for one in sensible if one.probability >= OFFERED and one.said}
        options = tuple(offered)[:MOST_OPTIONS]
        asked = f"What do you mean: {listed(options)}?" if len(options) > 1 else f"Do you mean: {options[0]}?"
        pending = Pending(tuple(offered[option] for option in options))
        return Edit((Clarify(asked, options, pending) if options else unclear,), words, situation.version)

    def _meanings(self, readings: Sequence[TermReading], words: str, situation: Situation) -> list[_Meaning]:
        """Return the edits of the readings, most probable first; probabilities of equal edits add up."""
        found: dict[str, _Meaning] = {}
        for reading in readings:
            requests = () if _is_talk(reading) else _requests(reading, words, situation)
            if not requests or (found and reading.probability < SLIGHT):
                continue
            edit = build(requests, words, situation, self.sources)
            key = what_it_does(edit)
            known = found.get(key) or _Meaning(edit, requests, replace(reading, spans=()), 0.0)
            covering = replace(known.reading, spans=known.reading.spans + reading.spans)
            found[key] = replace(known, reading=covering, probability=known.probability + reading.probability)
        return sorted(found.values(), key=lambda one: -one.probability)


def _sensible(meanings: Sequence[_Meaning]) -> list[_Meaning]:
    """Return the meanings that make sense in the situation, with a share of the probability of the others."""
    made = [one for one in meanings if one.options or not one.edit.asks]
    senseless = sum(one.probability for one in meanings) - sum(one.probability for one in made)
    share = 1.0 / (1.0 - DOUBTED * senseless)
    return [replace(one, probability=one.probability * share) for one in made if one.probability >= OFFERED]


@dataclass(frozen=True)
class _Meaning:
    edit: Edit
    requests: Requests
    reading: TermReading
    probability: float

    @property
    def options(self) -> tuple[str, ...]:
        """Options of its question; () if it does not ask."""
        return next((one.options for one in self.edit.operations if isinstance(one, Clarify)), ())

    @property
    def said(self) -> str:
        """Requests in words."""
        return " and ".join(filter(None, map(in_words, self.requests)))


def what_it_does(edit: Edit) -> str:
    """Return a key that ignores the words of a rule, remembering and resuming."""
    done = [one for one in edit.operations if not isinstance(one, Remember | Resume)] or edit.operations
    return repr([replace(one, words="") if isinstance(one, AddRule) else one for one in done])


def _is_talk(reading: TermReading) -> bool:
    return reading.terms[0].name == Intent.NOTHING.value


def _requests(reading: TermReading, words: str, situation: Situation) -> Requests:
    """Return the requests of a reading; () if invalid. Answers count only while a question is open."""
    if reading.terms[0].name == "unclear":
        return ()
    try:
        found = requests_of(reading.terms, plain(words))
    except LanguageModelError:
        return ()
    return found if situation.asked is not None else tuple(one for one in found if one.intent not in _ANSWERS)


def warm_up() -> None:
    """Load what the first reading would wait for."""
    from llm_planner.scene.scene import Scene

    load_reader().read(Task.CORRECTION, situation_of(Scene(0.0, ())), "no, the blue one")
