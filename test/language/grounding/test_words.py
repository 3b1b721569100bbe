"""Words and quantities as people type and say them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm_planner.language.grounding.words import QUANTITY, similarity, split_words


@pytest.mark.parametrize(
    ("said", "metres"),
    [
        ("5 cm", 0.05),
        ("5cm", 0.05),
        ("ten centimeters", 0.1),
        ("twenty five centimetres", 0.25),
        ("half a meter", 0.5),
        ("0.1 m", 0.1),
        ("0,2 m", 0.2),
        ("100 mm", 0.1),
        ("an inch", 0.0254),
        ("2 inches", 0.0508),
    ],
)
def test_a_quantity_becomes_one_word_that_carries_its_length(said: str, metres: float) -> None:
    words = split_words(f"move it {said} left")
    assert [word.text for word in words] == ["move", "it", QUANTITY, "left"]
    assert words[2].metres == pytest.approx(metres)


def test_a_number_without_a_unit_stays_a_word() -> None:
    assert [word.text for word in split_words("put two blocks on a plate")] == [
        "put",
        "two",
        "blocks",
        "on",
        "a",
        "plate",
    ]


def test_case_and_punctuation_are_split_off() -> None:
    assert [word.text for word in split_words("Put it down, NOW!")] == ["put", "it", "down", ",", "now", "!"]


def test_an_empty_or_wordless_text_gives_no_words() -> None:
    assert split_words("") == []
    assert split_words("   \n\t ") == []


@pytest.mark.parametrize(
    ("typed", "name", "fits"),
    [("block", "block", True), ("blocks", "block", True), ("blcok", "block", True), ("oragne", "orange", True),
     ("red", "green", False), ("bowl", "block", False), ("cup", "cap", False)],
)  # fmt: skip
def test_similarity_forgives_plurals_and_slips_but_not_other_words(typed: str, name: str, fits: bool) -> None:
    assert (similarity(typed, name) > 0) == fits


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
@example("move it ² cm")
def test_any_text_can_be_split(text: str) -> None:
    words = split_words(text)
    assert all(0 <= word.start < word.end <= len(text) for word in words)
