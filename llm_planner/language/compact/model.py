"""The compact model behind the `LanguageModel` seam: reads a command, writes a program, asks when it is not sure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from llm_planner.errors import QuestionError
from llm_planner.language.compact.choices import option_log_probabilities
from llm_planner.language.compact.constraints.reader import WEIGHTS as READING_WEIGHTS
from llm_planner.language.compact.constraints.reader import CommandReader, load_reader
from llm_planner.language.compact.coverage import doubt
from llm_planner.language.compact.encoding import encode
from llm_planner.language.compact.entries import Entries, scene_entries
from llm_planner.language.compact.grammar import Node
from llm_planner.language.compact.guards import overlooked
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.phrase_writer import write_by_phrases
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.render import render_program
from llm_planner.language.compact.search import Reading, sample, search
from llm_planner.language.compact.words import MAX_WORDS, Word, split_words
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    ReadingReply,
    ReadingRequest,
)
from llm_planner.language.model import Reading as Read
from llm_planner.language.understanding.absent import check_here
from llm_planner.language.understanding.wording import plain
from llm_planner.world.names import the
from llm_planner.world.predicates import BUTTON, DRAWER, STAIN

WEIGHTS = Path(__file__).parent / "weights"
MIN_CONFIDENCE = 0.5  # below this it asks; see docs/decisions for how it was chosen
PROGRAMS = 8  # sampled to choose the next call

EXAMPLES = 'For instance: "put the red block in the green bowl" or "stack all the blocks".'
_FURNITURE_WORK = {DRAWER: "open and close {}", BUTTON: "press {}", STAIN: "wipe {} off"}
_PLACE = re.compile(r"^line \d+, column \d+: ")  # in a program that the person never saw
_UPSETS = re.compile(  # as an order, not as what is to be avoided
    r"(?:^|\b(?:please|and|then|you) )(?:knock|tip|topple|kick|throw|smash|break|crush|spill|bump)\b"
)


@dataclass(frozen=True)
class Answer:
    """What one reading comes to: a program, or a question for the person."""

    program: str
    question: str


class CompactModel:
    """A network of about two million weights; deterministic, offline, some tens of milliseconds a command."""

    name = "compact"
    chooses = False
    is_large = False

    def __init__(self, network: NumpyNetwork, reader: CommandReader, min_confidence: float = MIN_CONFIDENCE) -> None:
        self._network = network
        self._reader = reader
        self._min_confidence = min_confidence

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """The command's task and constraints, as `samples` readings."""
        if not request.propositions and write_by_phrases(request.command, request.scene):
            return ReadingReply((Read(task=request.command, log_probability=0.0, whole=True),) * request.samples)
        if not request.drawn:
            return self._reader.read(request)
        reply = self._reader.read(replace(request, samples=request.samples + 1))
        return replace(reply, readings=reply.readings[1:])

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """By vote of programs that are sampled for the command."""
        asked = ProgramRequest(request.command, request.scene, samples=PROGRAMS, temperature=1.0)
        reply = self.write_program(asked)
        programs = [program for program in (reply.program, *reply.others) if program]
        return ChoiceReply(option_log_probabilities(programs, request.steps, request.options))

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """The most probable program that was not refused before, or a question; `others` are drawn at random."""
        rewards = write_by_phrases(request.command, request.scene)
        if rewards:
            return _reply_of(rewards, request)
        words = split_words(request.command.rstrip(" .!,;:\n"))  # how a sentence ends says nothing about what it asks
        if len(words) > MAX_WORDS or not any(word.text.isalpha() for word in words):
            return ProgramReply(question=_length_question(len(words)))
        entries = scene_entries(request.scene)
        item = encode(words, entries.flat(), PROGRAM)
        answers = self._answers(search(self._network, item), words, request, entries)
        refused = {attempt.program for attempt in request.attempts}
        open_answers = {a: p for a, p in answers.items() if not a.program or a.program not in refused}
        if not open_answers:
            return ProgramReply(question=_unsure_question(request))
        best = max(open_answers, key=lambda answer: open_answers[answer])
        confidence = min(1.0, open_answers[best])
        if best.question:
            return ProgramReply(question=best.question, confidence=confidence)
        if confidence < self._min_confidence:
            return ProgramReply(question=_unsure_question(request), confidence=confidence)
        drawn: list[Reading] = []
        if request.samples > 1:
            rng = np.random.default_rng(request.seed)
            drawn = sample(self._network, item, request.samples - 1, request.temperature, rng)
        others = tuple(_answer(reading, words, request, entries).program for reading in drawn)
        return ProgramReply(program=best.program, confidence=confidence, others=tuple(filter(None, others)))

    def _answers(
        self, readings: list[Reading], words: list[Word], request: ProgramRequest, entries: Entries
    ) -> dict[Answer, float]:
        """Readings that come to the same answer count together."""
        answers: dict[Answer, float] = {}
        for reading in readings:
            answer = _answer(reading, words, request, entries)
            trust = reading.probability * doubt(words, reading.steps, entries)
            answers[answer] = answers.get(answer, 0.0) + trust
        return answers


def _reply_of(rewards: str, request: ProgramRequest) -> ProgramReply:
    """There is one program for a command that the grammar of rewards covers."""
    for attempt in request.attempts:
        if attempt.program == rewards:
            problems = "; ".join(_PLACE.sub("", problem) for problem in attempt.problems)
            return ProgramReply(question=f'I cannot do "{request.command.strip()}": {problems}')
    return ProgramReply(program=rewards, confidence=1.0)


def _answer(reading: Reading, words: list[Word], request: ProgramRequest, entries: Entries) -> Answer:
    tree = PROGRAM.build_tree(list(reading.steps))
    if tree.step == "program" and (ignored := overlooked(words, reading.steps)):
        return Answer("", _overlooked_question(ignored, request))
    try:
        if tree.step != "program":
            check_here(request.command, request.scene)
            return Answer("", _refusal(tree, request))
        return Answer(render_program(tree, words, request.scene, entries), "")
    except QuestionError as question:
        return Answer("", str(question))


def _refusal(tree: Node, request: ProgramRequest) -> str:
    said = request.command.strip()
    if tree.step == "cannot" or (tree.step == "constraint" and _UPSETS.search(plain(said))):
        can = ", ".join(("pick, place, push and arrange what is on the table", *_furniture_work(request)))
        return f'I cannot do all of "{said}": I can {can}. {EXAMPLES}'
    if tree.step == "constraint":
        return (
            f'"{said}" sets a condition on how I move, and the compact model cannot guarantee such conditions, '
            "so nothing will move. Leave the condition out to have the rest done."
        )
    return f'I did not understand "{said}". {EXAMPLES}'


def _furniture_work(request: ProgramRequest) -> list[str]:
    """What can be done to the furniture that is there, which nobody guesses from the rest."""
    items = request.scene.objects
    return [_FURNITURE_WORK[item.kind].format(the(item.name)) for item in items if item.kind in _FURNITURE_WORK]


def _overlooked_question(ignored: str, request: ProgramRequest) -> str:
    said = request.command.strip()
    return (
        f'I do not know what to make of "{ignored}" in "{said}", so nothing will move. Please say what to do instead.'
    )


def _unsure_question(request: ProgramRequest) -> str:
    seen = ", ".join(request.scene.names) or "nothing"
    return (
        f'I am not sure what you mean by "{request.command.strip()}". Please say it another way. On the table: {seen}.'
    )


def _length_question(count: int) -> str:
    if count <= MAX_WORDS:
        return f"I heard no words. What should I do? {EXAMPLES}"
    return (
        f"That was {count} words; I can follow at most {MAX_WORDS}. Please say it in shorter parts, one after another."
    )


@lru_cache(maxsize=1)
def load_compact_model(folder: Path = WEIGHTS, reading: Path = READING_WEIGHTS) -> CompactModel:
    """The model with the shipped weights; raises `LanguageModelError` when they are missing.

    `folder` has those of the network that writes programs, `reading` those of the one that reads commands.
    """
    return CompactModel(NumpyNetwork(*load_weights(folder)), load_reader(reading))
