"""Derivations: every one the grammar allows is a well-formed program, and trees survive the walk there and back."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.compact.encoding import encode
from llm_planner.language.compact.entries import scene_entries
from llm_planner.language.compact.generator.examples import draw_example
from llm_planner.language.compact.grammar import START, Pointer, linearise
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.render import render_program


def test_production_names_are_unique_across_symbols() -> None:
    assert (
        len(PROGRAM.productions) == sum(len(rules) for rules in PROGRAM.rules.values()) == len(PROGRAM.production_index)
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_generated_derivation_is_legal_at_every_step_and_survives_the_round_trip(seed: int) -> None:
    example = draw_example(np.random.default_rng(seed))
    item = encode(example.words, scene_entries(example.scene).flat(), PROGRAM)
    stack = START
    for step in example.steps:
        assert item.legal(*stack[-1])[item.choice(step)]
        stack = PROGRAM.advance(stack, step)
    assert stack == ()
    assert linearise(PROGRAM.build_tree(list(example.steps))) == list(example.steps)


def test_random_legal_derivations_always_render_to_python_that_parses_or_to_a_question() -> None:
    rng = np.random.default_rng(0)
    programs = 0
    for seed in range(300):
        example = draw_example(np.random.default_rng(seed))
        item = encode(example.words, scene_entries(example.scene).flat(), PROGRAM)
        steps, stack = [], START
        while stack and len(steps) < PROGRAM.max_steps:
            index = int(rng.choice(np.flatnonzero(item.legal(*stack[-1]))))
            step = item.step_at(index)
            steps.append(step)
            stack = PROGRAM.advance(stack, step)
        if stack or steps[0] != "program":
            continue
        try:
            text = render_program(
                PROGRAM.build_tree(steps), list(example.words), example.scene, scene_entries(example.scene)
            )
        except QuestionError:
            continue
        ast.parse(text)
        programs += 1
    assert programs > 5


def test_a_loop_variable_is_only_legal_inside_a_loop() -> None:
    example = draw_example(np.random.default_rng(0))
    item = encode(example.words, scene_entries(example.scene).flat(), PROGRAM)
    assert not item.legal("OBJECT", 0)[PROGRAM.production_index["item"]]
    assert item.legal("OBJECT", 1)[PROGRAM.production_index["item"]]
    assert not item.legal("OBJECT", 1)[PROGRAM.production_index["outer"]]


def test_a_derivation_cut_short_is_refused() -> None:
    with pytest.raises(ValueError, match="ends before its tree is complete"):
        PROGRAM.build_tree(["program", "last"])


def test_a_derivation_with_something_behind_it_is_refused() -> None:
    with pytest.raises(ValueError, match="ends 1 steps early"):
        PROGRAM.build_tree(["unclear", "cannot"])


def test_pointers_and_input_positions_are_inverse() -> None:
    example = next(e for e in (draw_example(np.random.default_rng(s)) for s in range(99)) if len(e.scene.objects) > 3)
    item = encode(example.words, scene_entries(example.scene).flat(), PROGRAM)
    for kind in ("kind", "word"):
        pointer = Pointer(kind, 0)
        if kind != "word" or not example.words[0].metres:
            assert item.pointer_at(item.locate(pointer)) == pointer
