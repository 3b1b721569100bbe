"""Reads a command with the reading network: into its task and its constraints, or a question for the person."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.compact.constraints.doubts import DOUBT, doubt, unknown, unknown_thing
from llm_planner.language.compact.constraints.formulas import specification
from llm_planner.language.compact.constraints.grammar import GOALS, MAX_READ, READING
from llm_planner.language.compact.constraints.lifting import Lifted, Sentence, lift
from llm_planner.language.compact.constraints.naming import Phrase, proposition_phrases, scene_phrases
from llm_planner.language.compact.constraints.states import BareStates, SceneStates
from llm_planner.language.compact.encoding import encode
from llm_planner.language.compact.grammar import Node, Pointer
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.search import Reading as Derivation
from llm_planner.language.compact.search import sample, search
from llm_planner.language.model import ReadConstraint, Reading, ReadingReply, ReadingRequest
from llm_planner.temporal.formula import Formula, conj
from llm_planner.temporal.parser import parse

WEIGHTS = Path(__file__).parent / "weights"
VOCABULARY = "vocabulary.txt"
MIN_CONFIDENCE = 0.4  # below this it asks
_LINKS = frozenset([
    ",", ".", ";", ":", "-", "and", "but", "also", "however", "though", "oh", "then", "remember", "note",
])  # fmt: skip
_AFTER = re.compile(r"(?:and )?(?:then|after that|after this|afterwards|afterward|subsequently)\b", re.IGNORECASE)
_WORK = frozenset(["visit", "sequence", "ordered"])
_WORK_FIRST = re.compile(  # "pick up the mug, but only after ..." is work and a rule
    r"(?P<work>(?:please )?(?:put|place|pick|take|grab|move|stack|bring|carry|lift|set|push|drop|lay|get)\b.*?)"
    r"\s*,?\s+(?:but )?(?:only (?:after|once|when|if|as soon as)|not before|not until)\b",
    re.IGNORECASE,
)
_ORDER = frozenset(["then"])  # a link that says something


@dataclass(frozen=True)
class CommandReader:
    """A network over lifted sentences; `known` are the words that it has learnt from."""

    network: NumpyNetwork
    known: frozenset[str] = frozenset()
    min_confidence: float = MIN_CONFIDENCE

    def read(self, request: ReadingRequest) -> ReadingReply:
        """The best reading, then the drawn ones; a question where none can be trusted."""
        command, bare = request.command, bool(request.propositions)
        sentence = lift(command, _phrases(request), _world(request), self.known)
        if len(sentence.words) > MAX_READ or not any(word.text.strip("#").isalnum() for word in sentence.words):
            return ReadingReply((Reading(question=_length_question(len(sentence.words))),))
        item = encode(sentence.words, sentence.flat(), READING)
        states = BareStates(sentence) if bare else SceneStates(sentence, request.scene)
        meaning = Meaning(command, sentence, states, self.known)
        found = [self._best([meaning.reading(one) for one in search(self.network, item)], request)]
        if request.samples > 1:
            rng = np.random.default_rng(request.seed)
            drawn = sample(self.network, item, request.samples - 1, request.temperature, rng)
            found += [_doubted(derivation, *meaning.reading(derivation), command) for derivation in drawn]
        return ReadingReply(tuple(found))

    def _best(self, readings: list[tuple[Reading, float]], request: ReadingRequest) -> Reading:
        """The reading that is trusted most; those that come to the same task and formula count together."""
        refused = {attempt.program for attempt in request.attempts}
        left = [(reading, trust) for reading, trust in readings if str(reading) not in refused]
        trusted: dict[tuple[str, Formula, str], float] = {}
        for reading, trust in left:
            trusted[_sense(reading)] = trusted.get(_sense(reading), 0.0) + trust
        if not left:
            return Reading(question=_unsure_question(request.command))
        sense = max(trusted, key=lambda one: trusted[one])
        best = max((pair for pair in left if _sense(pair[0]) == sense), key=lambda pair: pair[1])[0]
        trust = math.log(max(1e-9, min(1.0, trusted[sense])))
        if not best.question and trusted[sense] < self.min_confidence:
            return Reading(question=_unsure_question(request.command), log_probability=trust)
        return Reading(best.task, best.constraints, best.question, trust)


def _doubted(derivation: Derivation, reading: Reading, trust: float, command: str) -> Reading:
    """A drawn reading, or a question where it leaves out something that was said."""
    if reading.question or trust >= derivation.probability:
        return reading
    return Reading(question=_unsure_question(command), log_probability=reading.log_probability)


def _sense(reading: Reading) -> tuple[str, Formula, str]:
    """Task, conditions all together, and question: however the command was cut into parts."""
    return reading.task, conj(*(parse(constraint.formula) for constraint in reading.constraints)), reading.question


@dataclass(frozen=True)
class Meaning:
    """What derivations of one command come to."""

    command: str
    sentence: Sentence
    states: BareStates | SceneStates
    known: frozenset[str]

    def reading(self, derivation: Derivation) -> tuple[Reading, float]:
        """What it says, and how far it can be trusted."""
        tree = READING.build_tree(list(derivation.steps))
        trust = derivation.probability
        chance = math.log(max(1e-300, trust))
        if tree.step == "unclear":
            return Reading(question=_unclear_question(self.command), log_probability=chance), trust
        tasks: list[str] = []
        constraints: list[ReadConstraint] = []
        try:
            for part, words in self._parts(tree.children[0]):
                said = self._text(words, _LINKS if part.step == "task" else _LINKS - _ORDER)
                if part.step == "task" or self._is_work(part.children[1]):
                    tasks.append(self._text(words))
                    continue
                spec = part.children[1]
                if thing := self.known and unknown_thing(words, self.known):
                    raise QuestionError(f'I do not know what "{thing}" is here. What do you mean by "{said}"?')
                trust *= doubt(spec, words, self.sentence) * (DOUBT if unknown(words, self.known) and self.known else 1)
                goal = spec.step in GOALS
                if goal and _AFTER.match(said) and any(one.goal for one in constraints):
                    raise QuestionError(
                        f'After what should the robot do this: "{said}"? Please say it in one sentence.'
                    )
                if spec.step == "not_before" and self._at_table and (work := _WORK_FIRST.match(said)):
                    tasks.append(work["work"])
                formula = str(specification(spec, self.states))
                constraints.append(ReadConstraint(formula, said, goal))
        except QuestionError as question:
            return Reading(question=str(question), log_probability=chance), trust
        return Reading(", ".join(filter(None, tasks)), tuple(constraints), "", chance), trust

    def _is_work(self, spec: Node) -> bool:
        """What an arm at a table is to bring about is a task for programs, like any other."""
        return self._at_table and spec.step in _WORK

    @property
    def _at_table(self) -> bool:
        return self.sentence.world == "table"

    def _parts(self, node: Node) -> list[tuple[Node, tuple[Lifted, ...]]]:
        """Each part with its words; what follows the last belongs to it, what leads to a task to the rule before."""
        parts: list[Node] = []
        ends: list[int] = []
        last = False
        while not last:
            part, last = node.children[0], node.step == "last_part"
            end_step = part.children[0].step
            assert isinstance(end_step, Pointer)
            begin = ends[-1] if ends else 0
            while part.step == "task" and ends and self.sentence.words[begin : begin + 1] and self._links(begin):
                begin += 1
            if ends and parts[-1].step == "specify":
                ends[-1] = begin
            parts.append(part)
            ends.append(len(self.sentence.words) if last else max(begin, end_step.index + 1))
            node = node if last else node.children[1]
        return [(part, self.sentence.words[b:e]) for part, b, e in zip(parts, [0, *ends], ends, strict=False)]

    def _links(self, index: int) -> bool:
        """Whether a task begins only after this word: "and then", "while you"."""
        text = self.sentence.words[index].text
        return text in _LINKS or text == "while" or (text == "you" and self.sentence.words[index - 1].text == "while")

    def _text(self, words: tuple[Lifted, ...], links: frozenset[str] = _LINKS) -> str:
        """The words as they were typed, without what links them to the others."""
        kept = list(words)
        while kept and kept[0].text in links:
            kept.pop(0)
        while kept and kept[-1].text in links:
            kept.pop()
        return self.command[kept[0].start : kept[-1].end] if kept else ""


def _phrases(request: ReadingRequest) -> tuple[Phrase, ...]:
    return proposition_phrases(request.propositions) if request.propositions else scene_phrases(request.scene)


def _world(request: ReadingRequest) -> str:
    if request.propositions:
        return "bare"
    return "rooms" if request.scene.building else "table"


def _length_question(count: int) -> str:
    if count <= MAX_READ:
        return "I heard no words. What should I do?"
    return f"That was {count} words; I can follow at most {MAX_READ}. Please say it in shorter parts."


def _unclear_question(command: str) -> str:
    return f'I did not understand "{command.strip()}". Please say what should happen, or what must not.'


def _unsure_question(command: str) -> str:
    return f'I am not sure what you mean by "{command.strip()}". Please say it another way, one condition at a time.'


@lru_cache(maxsize=1)
def load_reader(folder: Path = WEIGHTS) -> CommandReader:
    """The reader with the shipped weights; raises `LanguageModelError` when they are missing."""
    network = NumpyNetwork(*load_weights(folder))
    try:
        known = (folder / VOCABULARY).read_text(encoding="utf-8").split()
    except OSError as error:
        raise LanguageModelError(
            f"the words that the reading network knows cannot be read ({error}); reinstall the package or run "
            "`llm-planner train-language --network reading`"
        ) from error
    return CommandReader(network, frozenset(known))
