"""What the generator draws: derivations that the grammar allows, all of it, and no two trees for one meaning."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.language.compact.constraints.generator.mixture import Mixture
from llm_planner.language.compact.constraints.generator.phrasing import canonical, listed, node
from llm_planner.language.compact.constraints.grammar import MAX_READ, READING
from llm_planner.language.compact.encoding import Sample
from llm_planner.language.compact.grammar import START, Node, Pointer

MUG, LAB = Node(Pointer("object", 0)), Node(Pointer("room", 0))
HELD, THERE = node("holding", MUG), node("in_room", LAB)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    rng, draw = np.random.default_rng(3), Mixture()
    return [draw(rng) for _ in range(2500)]


def test_every_derivation_is_one_of_the_grammar(samples: list[Sample]) -> None:
    for sample in samples:
        stack = START
        for step in sample.steps:
            assert sample.item.legal(*stack[-1])[sample.item.choice(step)]
            stack = READING.advance(stack, step)
        assert not stack


@pytest.mark.parametrize("symbol", ["PARTS", "PART", "SPEC", "FORM", "LIST", "THING", "SET", "ROOM"])
def test_every_production_is_taught(symbol: str, samples: list[Sample]) -> None:
    taught = {step for sample in samples for step in sample.steps if isinstance(step, str)}
    assert taught >= set(READING.rules[symbol])


def test_no_sentence_is_longer_than_what_may_be_read(samples: list[Sample]) -> None:
    assert max(int(sample.item.position.max()) for sample in samples) <= MAX_READ


def test_the_same_seed_draws_the_same_sentences() -> None:
    one, other = (Mixture()(np.random.default_rng(9)) for _ in range(2))
    assert (one.item.grams, one.steps) == (other.item.grams, other.steps)


@pytest.mark.parametrize(
    ("spec", "tree"),
    [
        (node("never", listed([node("both", THERE, HELD)])), node("whenever", HELD, node("isnt", THERE))),
        (node("never", listed([node("both", THERE, node("isnt", HELD))])), node("whenever", THERE, HELD)),
        (node("whenever", THERE, node("isnt", node("holding_any"))),
         node("whenever", node("holding_any"), node("isnt", THERE))),
        (node("never", listed([THERE])), node("never", listed([THERE]))),
        (node("always", listed([node("is_in", node("this", MUG, MUG), node("the", MUG, MUG))])),
         node("always", listed([node("is_in", node("the", MUG, MUG), node("this", MUG, MUG))]))),
    ],
)  # fmt: skip
def test_what_is_said_in_two_ways_has_one_tree(spec: Node, tree: Node) -> None:
    assert canonical(spec) == tree
