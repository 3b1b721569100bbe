"""Words that change the meaning are never passed over in silence."""

from __future__ import annotations

import pytest

from llm_planner.language.compact.guards import overlooked
from llm_planner.language.compact.words import split_words

PUT = ("program", "last", "put", "the", "any_color", "in", "the", "any_color")
TAKE = ("program", "last", "each", "take", "n2", "objects", "any_color", "last", "put", "item", "at", "left_side")
EXCEPT = ("program", "last", "each", "except", "objects", "any_color", "the", "any_color", "last", "put", "item")
DOWN = ("program", "last", "put", "the", "any_color", "offset", "bottom", "near")
TOWER = ("program", "last", "tower", "pair", "the", "any_color", "the", "any_color")


@pytest.mark.parametrize(
    ("said", "steps", "word"),
    [
        ("don't put the block in the bowl", PUT, "don't"),
        ("I don't want the block in the bowl", PUT, "don't"),
        ("the block must not be in the bowl", PUT, "must not"),
        ("no need to put the block in the bowl", PUT, "no need"),
        ("could you not put the block in the bowl", PUT, "you not"),
        ("put the block anywhere but in the bowl", PUT, "anywhere"),
        ("nobody should put the mug in the bowl", PUT, "nobody"),
        ("put neither the mug nor the block in the bowl", PUT, "neither"),
        ("why did you put the block in the bowl", PUT, "why"),
        ("yesterday I put the block in the bowl", PUT, "yesterday"),
        ("put each block in a bowl of a different colour", PUT, "different"),
        ("put each block in a bowl that does not match", PUT, "does not"),
        ("move the block away from the mug", PUT, "away from"),
        ("put the two leftmost blocks on the left", TAKE, "leftmost"),
        ("put the two blocks closest to the mug on the left", TAKE, "closest"),
        ("put half of the blocks in the bowl", PUT, "half"),
        ("stack all blocks, the red one at the bottom, blue on top", TOWER, "all"),
        ("put the block in the bowl and everything else on the plate", PUT, "everything else"),
        ("put the block down", DOWN, "down"),
    ],
)
def test_a_word_that_the_reading_ignores_is_named(said: str, steps: tuple[str, ...], word: str) -> None:
    assert overlooked(split_words(said), steps) == word


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("put the block in the bowl", PUT),
        ("put the red block, no, the blue block in the bowl", PUT),
        ("not the mug, the block: put it in the bowl", PUT),
        ("put the block in the bowl, not on the plate", PUT),
        ("put everything that isn't a bowl on the left", EXCEPT),
        ("why don't you put the block in the bowl", PUT),
        ("move the block away from you", PUT),
        ("put a block in the bowl, I don't care which", PUT),
        ("put two blocks on the left side", TAKE),
        ("put the block in the bowl and nothing else", PUT),
        ("stack the red block on the blue one", TOWER),
        ("put the block down 5 cm", DOWN),
        ("move the block down a bit", DOWN),
    ],
)
def test_what_the_reading_heeds_is_no_reason_to_ask(said: str, steps: tuple[str, ...]) -> None:
    assert overlooked(split_words(said), steps) == ""
