"""Words as people type and say them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm_planner.language.grounding.naming import similarity, split_words


def test_a_number_and_its_unit_are_words() -> None:
    assert [word.text for word in split_words("Move it 5cm left")] == ["move", "it", "5", "cm", "left"]


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
