"""Which words of a command carry meaning."""

import pytest

from llm_planner.language.understanding.wording import left_over, same_task


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Put the mug on the plate, please.", "put mug on plate"),
        ("Could you visit the lab", "visit the lab"),
        ("and go to the lab", "go to the lab!"),
    ],
)
def test_tasks_that_differ_in_politeness_are_the_same(a, b):
    assert same_task(a) == same_task(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [("put the mug on the plate", "put the mug in the plate"), ("visit the lab", "do not visit the lab")],
)
def test_tasks_that_differ_in_meaning_are_not(a, b):
    assert same_task(a) != same_task(b)


@pytest.mark.parametrize(
    ("command", "parts", "words"),
    [
        ("Please put the mug down, but stay away from the vase.", ["put the mug down", "stay away from the vase"], ()),
        ("put the mug down, but stay away from the vase", ["put the mug down"], ("stay", "away", "vase")),
        ("go to the lab, never the hall", ["go to the lab", "the hall"], ("never",)),
        ("go to the lab, then the hall", ["go to the lab", "the hall"], ("then",)),
        ("visit the lab twice", ["visit the lab"], ("twice",)),
        ("don't go near teh vase", ["dont go near the vase"], ()),
        ("no vase on the table", ["vase on the table"], ("no",)),
        ("when in the hall wait", ["then hall wait"], ("when",)),
        ("keep 30 cm from it", ["keep cm from it"], ("30",)),
    ],
)
def test_what_a_reading_leaves_out_is_found(command, parts, words):
    assert left_over(command, parts) == words
