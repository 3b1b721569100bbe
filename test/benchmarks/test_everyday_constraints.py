"""The sentences that measure how constraints are read: complete, meant for their scenes, and never trained on."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from llm_planner.language.model import ReadConstraint, Reading, ReadingReply, ReadingRequest
from llm_planner.language.understanding.meaning import Meanings
from llm_planner.language.understanding.wording import same_task, words_of
from llm_planner.temporal.formula import TRUE
from llm_planner.world.propositions import check_proposition, parse_proposition

ROOT = Path(__file__).parents[2]
BENCH = runpy.run_path(str(ROOT / "benchmarks" / "bench_constraints.py"))
SENTENCES = BENCH["read_sentences"](BENCH["SENTENCES"])
ASKED = [sentence for sentence in SENTENCES if not sentence.means]


class Reader:
    """Reads each sentence as `answer` says; asks about those whose right answer is a question."""

    name = "reader"

    def __init__(self, answer: int = 0, task: str = "", rule: str = "") -> None:
        self.answer, self.task, self.rule = answer, task, rule
        self.sentences = {sentence.say: sentence for sentence in SENTENCES}

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        return ReadingReply((self.reading(request.command),) * request.samples)

    def reading(self, command: str) -> Reading:
        sentence = self.sentences[command]
        if not sentence.means and not self.rule:
            return Reading(question="What do you mean?")
        formula = self.rule or str(sentence.means[self.answer % len(sentence.means)])
        rule = ReadConstraint(formula, command)
        return Reading(self.task or sentence.task or command, (rule,), log_probability=0.0)


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


def test_a_wrong_reading_is_wrong_and_not_a_question(capsys):
    figures = measured(capsys, Reader(rule="F speed(robot) > 7"))
    assert figures["right share"] == 0.0
    assert figures["not right, understood wrongly"] == 150


def test_a_question_too_many_is_told_apart(capsys):
    figures = measured(capsys, Reader(rule="not a formula ("))
    assert figures["not right, asked"] == 150 - len(ASKED)
    assert figures["share of misses that are questions"] == 1.0


def test_a_wrong_task_is_wrong(capsys):
    tasks = sum(bool(sentence.task) for sentence in SENTENCES)
    assert measured(capsys, Reader(task="dance"))["not right, understood wrongly"] == tasks


def test_training_never_reads_them():
    readers = [path for path in (ROOT / "llm_planner").rglob("*.py") if "everyday_constraints" in path.read_text(encoding="utf-8")]
    assert readers == []
    head = Path(BENCH["SENTENCES"]).read_text(encoding="utf-8")[:600]
    assert re.search(r"For measuring only.*Training never reads this file", head, re.DOTALL)
