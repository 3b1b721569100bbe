"""What the network of corrections learns from: sentences of all kinds that mean what they are labelled with."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
import pytest

from llm_planner.correction.compact.generator.clause import Clause, Piece
from llm_planner.correction.compact.generator.examples import draw_example, draw_sample
from llm_planner.correction.compact.generator.noise import noisy
from llm_planner.correction.compact.generator.slots import random_world
from llm_planner.correction.compact.generator.tables import sections
from llm_planner.correction.compact.grammar import REQUESTS
from llm_planner.correction.compact.meaning import requests_of
from llm_planner.correction.requests import DIRECTIONS, RELATIONS, Intent
from llm_planner.language.compact.grammar import START, linearise
from llm_planner.plan.edits import Lifetime, Scope

SPOKEN = ("thing", "instead_of", "target")


@lru_cache(maxsize=1)
def drawn():
    rng = np.random.default_rng(0)
    examples = [draw_example(rng) for _ in range(800)]
    return [(example, requests_of(example.steps, example.words)) for example in examples]


def test_production_names_are_unique_across_symbols():
    assert len(REQUESTS.productions) == sum(map(len, REQUESTS.rules.values())) == len(REQUESTS.production_index)


@pytest.mark.parametrize("kept", [False, True])
def test_every_derivation_is_legal_at_every_step_and_survives_the_round_trip(kept):
    rng = np.random.default_rng(1)
    for _ in range(60):
        sample = draw_sample(rng, kept)
        stack = START
        for step in sample.steps:
            assert sample.item.legal(*stack[-1])[sample.item.choice(step)]
            stack = REQUESTS.advance(stack, step)
        assert stack == ()
        assert linearise(REQUESTS.build_tree(list(sample.steps))) == list(sample.steps)


def test_the_same_seed_gives_the_same_sentences():
    first, second = ([draw_example(np.random.default_rng(4)) for _ in range(5)] for _ in range(2))
    assert first == second


def test_everything_that_can_be_asked_for_is_drawn_and_a_quarter_is_no_correction():
    counts = Counter(request.intent for _, requests in drawn() for request in requests)
    assert counts.keys() == set(Intent)
    assert 0.2 < counts[Intent.NOTHING] / len(drawn()) < 0.35


def test_what_fills_a_slot_was_said():
    for example, requests in drawn():
        for request in requests:
            for slot in SPOKEN:
                assert getattr(request, slot) in example.text


def test_directions_and_relations_are_those_of_requests():
    requests = [request for _, found in drawn() for request in found]
    assert {request.direction for request in requests} - {""} == set(DIRECTIONS)
    assert {request.relation for request in requests} - {""} <= set(RELATIONS)


def test_several_requests_come_in_one_breath():
    assert Counter(len(requests) for _, requests in drawn()).keys() == {1, 2, 3}


def test_what_is_said_to_last_changes_the_scope_and_for_how_long_the_motion_does():
    requests = [request for _, found in drawn() for request in found if request.intent is not Intent.REMEMBER]
    assert {request.scope for request in requests} == set(Scope)
    assert all((request.scope is Scope.ONCE) == (request.lifetime is Lifetime.STEP) for request in requests)


def test_chatter_has_the_words_of_corrections_in_it():
    chatter = " ".join(example.text for example, requests in drawn() if requests[0].intent is Intent.NOTHING).split()
    assert {"stop", "left", "faster", "wait", "back", "slower", "right"} <= set(chatter)


@pytest.mark.parametrize("file", ["requests", "chatter"])
def test_wordings_that_are_kept_are_never_trained_on(file):
    trained = {line for section in sections(file) for line in section.lines}
    kept = [line for section in sections(file, kept=True) for line in section.lines]
    assert kept
    assert trained.isdisjoint(kept)


def test_the_headings_of_the_table_are_intents_and_their_choices_those_of_the_grammar():
    for section in sections("requests", None):
        assert Intent(section.name) is not Intent.NOTHING
        for symbol, choice in section.choices.items():
            assert f"{symbol.lower()}:{choice}" in REQUESTS.rules[symbol]


def test_noise_never_takes_all_words_of_a_slot():
    pieces = [Piece("not"), Piece("the", "INSTEAD"), Piece(","), Piece("the", "THING"), Piece("mug", "THING")]
    for seed in range(200):
        assert {"INSTEAD", "THING"} <= {piece.slot for piece in noisy(pieces, np.random.default_rng(seed))}


def test_a_slot_that_is_said_twice_is_said_the_same_way():
    rng = np.random.default_rng(0)
    clause = Clause(rng, random_world(rng), Intent.OTHER_TARGET)
    assert clause._fill("rel") == clause._fill("rel")
