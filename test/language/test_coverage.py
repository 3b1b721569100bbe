"""A reading that leaves out something that was named is doubtful."""

from __future__ import annotations

import pytest

from llm_planner.language.compact.coverage import DOUBT, doubt
from llm_planner.language.compact.entries import Entries
from llm_planner.language.compact.grammar import Pointer, Step
from llm_planner.language.compact.words import split_words

ENTRIES = Entries((), ("block", "bowl", "toy car"), ("red", "blue"))
BLOCK, BOWL, CAR = (Pointer("kind", index) for index in range(3))
RED, BLUE = (Pointer("color", index) for index in range(2))


@pytest.mark.parametrize(
    ("said", "steps", "factor"),
    [
        ("put the red block in the bowl", ("program", BLOCK, RED, BOWL), 1.0),
        ("put the red block in the bowl", ("program", BLOCK, BOWL), DOUBT),
        ("put the red block and the car in the bowl", ("program", BLOCK, BOWL), DOUBT**2),
        ("put the blocks in the bowls", ("program", BLOCK, BOWL), 1.0),
        ("put the red, no, the blue block in the bowl", ("program", BLOCK, BLUE, BOWL), 1.0),
        ("put the block, not the car, in the bowl", ("program", BLOCK, BOWL), 1.0),
        ("paint the red block", ("cannot",), 1.0),
        ("put bob's mug in the bowl", ("program", Pointer("object", 0)), 1.0),
    ],
)
def test_each_name_that_is_left_out_makes_it_more_doubtful(said: str, steps: tuple[Step, ...], factor: float) -> None:
    assert doubt(split_words(said), steps, ENTRIES) == pytest.approx(factor)
