"""The sentences that measure how constraints are read: complete, meant for their scenes, and never trained on."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llm_planner.language.model import ReadConstraint, Reading, ReadingReply, ReadingRequest
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.language.understanding.wording import same_task, words_of
from llm_planner.ltl.formula import TRUE, neg
from llm_planner.scene.propositions import check_proposition, parse_proposition

ROOT = Path(__file__).parents[2]
BENCH: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "bench_constraints.py"))
SENTENCES = BENCH["read_sentences"](BENCH["SENTENCES"])
BY_WORDS = {sentence.say: sentence for sentence in SENTENCES}
ASKED = [sentence for sentence in SENTENCES if not sentence.means]


@dataclass
class Reader:
    """Reads each sentence as an accepted formula, or as the opposite; asks where the right answer is a question."""

    answer: int = 0
    opposite: bool = False
    task: str = ""
    broken: str = ""
    name: str = "reader"
    chooses: bool = False
    is_large: bool = False

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        return ReadingReply((self.reading(request.command),) * request.samples)

    def reading(self, command: str) -> Reading:
        sentence = BY_WORDS.get(command)
        if sentence is None or not sentence.means:  # a clause alone is none of the sentences
            return Reading(question="What do you mean?")
        formula = sentence.means[self.answer % len(sentence.means)]
        words = re.sub(re.escape(sentence.task), "", sentence.say, flags=re.IGNORECASE)
        rule = ReadConstraint(self.broken or str(neg(formula) if self.opposite else formula), words)
        return Reading(self.task or sentence.task, (rule,) if words else (), log_probability=0.0, whole=True)


def measured(capsys: pytest.CaptureFixture[str], reader: Reader) -> dict:
    figures = BENCH["main"](["--show"], reader)
    capsys.readouterr()
    return figures


def test_there_are_150_sentences_half_of_them_in_each_world():
    worlds = [sentence.world for sentence in SENTENCES]
    assert (worlds.count("tabletop"), worlds.count("rooms")) == (75, 75)
    assert len({sentence.say for sentence in SENTENCES}) == 150
    assert 10 <= len(ASKED) <= 15


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.say)
def test_what_a_sentence_means_can_be_said_and_done_in_its_scene(sentence):
    for formula in sentence.means:
        for name in formula.propositions:
            check_proposition(parse_proposition(name), sentence.scene)
        assert Meanings(sentence.scene).conflict([formula]) == ()
    assert set(same_task(sentence.task)) <= set(words_of(sentence.say))


def test_accepted_formulas_say_something():
    assert sum(TRUE in sentence.means for sentence in SENTENCES) == 1  # one has a task and no constraint


def test_a_perfect_reader_is_right_with_every_accepted_formula(capsys):
    for answer in (0, -1):
        figures = measured(capsys, Reader(answer))
        assert figures["right share"] == figures["right share over the letters that can occur"] == 1.0


def test_a_wrong_reading_is_wrong_and_rarely_a_question(capsys):
    figures = measured(capsys, Reader(opposite=True))
    assert figures["right share"] == round((len(ASKED) + 1) / 150, 3)  # one sentence has no constraint
    opposed = figures["not right, asked"]  # words that deny against a formula that does not
    assert figures["not right, understood wrongly"] == 149 - len(ASKED) - opposed
    assert opposed <= 3


def test_a_question_too_many_is_told_apart(capsys):
    figures = measured(capsys, Reader(broken="not a formula ("))
    assert figures["not right, asked"] == 149 - len(ASKED)
    assert figures["share of misses that are questions"] == 1.0


def test_a_wrong_task_is_wrong(capsys):
    tasks = sum(bool(sentence.task) for sentence in SENTENCES)
    figures = measured(capsys, Reader(task="dance"))
    assert figures["not right, asked"] + figures["not right, understood wrongly"] == tasks


def test_training_never_reads_them():
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "llm_planner").rglob("*.py")}
    readers = [path for path, text in sources.items() if "everyday_constraints" in text]
    assert readers == []
    head = Path(BENCH["SENTENCES"]).read_text(encoding="utf-8")[:600]
    assert re.search(r"For measuring only.*Training never reads this file", head, re.DOTALL)
