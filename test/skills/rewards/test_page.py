"""The page about reward programs says of every term what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.programs.reward_program import MAX_WISHES
from llm_planner.programs.reward_terms import TERMS

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "rewards.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TERMS)
def test_the_page_has_the_term_with_its_unit_and_meaning(name: str) -> None:
    term = TERMS[name]
    assert f"| `{term.usage}` | {term.unit} | {term.meaning} |" in PAGE


def test_the_page_has_no_other_term_and_the_right_numbers() -> None:
    table = PAGE.partition("| term | unit | meaning |")[2].partition("\n\n")[0]
    assert table.count("| `") == len(TERMS)
    assert f"At most {MAX_WISHES} lines" in PAGE
