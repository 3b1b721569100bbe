"""An edit that contradicts the order, the condition or the amount in its words is offered, not made."""

from __future__ import annotations

import pytest

from llm_planner.corrections.edit_checks import contradicts, unsaid_amount
from llm_planner.corrections.edits import Edit, Insert, Move, Remove, Shift

YELLOW, MUG = ("5", "6"), ("3", "4")


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("do the yellow block before the mug", Move(YELLOW, "3")),
        ("the mug after the yellow block", Move(YELLOW, "3")),
        ("the yellow block first, the mug can wait", Move(YELLOW, "3")),
        ("the mug last", Move(MUG, "")),
        ("do the blue block before the mug", Insert("pick", {"object": "blue block"}, "3")),
        ("skip the mug", Remove("3")),
        ("in the yellow bowl, if it fits", Remove("3")),
        ("the yellow block and then the mug once more", Insert("pick", {"object": "mug"}, "")),
    ],
)
def test_an_edit_that_does_what_its_words_tell_is_made(at_table, words, operation):
    assert not contradicts(Edit((operation,), words), words, at_table(running=1))


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("do the yellow block after the mug", Move(YELLOW, "3")),
        ("first the mug, then the yellow block", Move(YELLOW, "3")),
        ("do the blue block before the mug", Insert("pick", {"object": "blue block"}, "")),
        ("skip the mug unless it is empty", Remove("3")),
        ("skip the mug if the vase is on the plate", Remove("3")),
    ],
)
def test_an_edit_that_reverses_the_order_or_leaves_out_the_condition_is_not(at_table, words, operation):
    assert contradicts(Edit((operation,), words), words, at_table(running=1))


@pytest.mark.parametrize(
    ("words", "metres", "is_told"),
    [
        ("another 2 cm that way", 0.02, True),
        ("another 2 cm that way", 0.04, False),
        ("an inch and a half more", 0.038, True),
        ("a bit more that way", 0.04, True),
    ],
)
def test_an_edit_has_the_amounts_of_its_words(at_table, words, metres, is_told):
    edit = Edit((Shift((0.0, metres, 0.0)),), words)
    assert (not unsaid_amount(edit, at_table(running=1))) is is_told
