"""The generator: varied, reproducible, free of the sentences kept for measuring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from llm_planner.errors import QuestionError
from llm_planner.language.compact.entries import scene_entries
from llm_planner.language.compact.generator.examples import MAX_WORDS, draw_example
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.render import render_program
from llm_planner.language.compact.words import split_words

EVERYDAY = Path(__file__).parents[2] / "benchmarks" / "data" / "everyday_sentences.yaml"


@pytest.fixture(scope="module")
def examples() -> list:
    rng = np.random.default_rng(11)
    return [draw_example(rng) for _ in range(4000)]


def test_no_sentence_kept_for_measuring_is_generated(examples: list) -> None:
    kept = {
        tuple(word.text for word in split_words(row["say"]))
        for group in yaml.safe_load(EVERYDAY.read_text())
        for row in group["sentences"]
        if len(row["say"].split()) > 3  # "open your hand" leaves no room to differ
    }
    assert len(kept) > 90
    made = {tuple(word.text for word in example.words) for example in examples}
    assert not kept & made


def test_every_production_of_the_grammar_is_taught(examples: list) -> None:
    used = {step for example in examples for step in example.steps if isinstance(step, str)}
    assert set(PROGRAM.productions) - used <= {"n6"}


def test_commands_hardly_ever_repeat(examples: list) -> None:
    assert len({example.text for example in examples}) > 0.93 * len(examples)


def test_examples_fit_the_network(examples: list) -> None:
    assert all(len(example.words) <= MAX_WORDS and len(example.steps) <= PROGRAM.max_steps for example in examples)


def test_the_command_splits_into_exactly_the_words_that_pointers_index(examples: list) -> None:
    same = sum([w.text for w in split_words(e.text)] == [w.text for w in e.words] for e in examples)
    assert same > 0.99 * len(examples)


def test_most_commands_stand_for_a_program_and_some_for_a_question(examples: list) -> None:
    def is_program(example) -> bool:
        tree = PROGRAM.build_tree(list(example.steps))
        if tree.step != "program":
            return False
        try:
            render_program(tree, list(example.words), example.scene, scene_entries(example.scene))
        except QuestionError:
            return False
        return True

    share = np.mean([is_program(example) for example in examples[:1000]])
    assert 0.55 < share < 0.85


def test_the_same_seed_writes_the_same_command() -> None:
    assert draw_example(np.random.default_rng(2)) == draw_example(np.random.default_rng(2))
