"""What counts as "go on", without any model."""

from __future__ import annotations

import pytest

from llm_planner.language.stop_words import is_go_on


@pytest.mark.parametrize(
    "text",
    ["go on", "Go on!", "continue", "Carry on, please.", "resume", "OK, go on", "you can go on now", "go on with it",
     "yes, continue", "\x1b[31mgo\x07 on\x1b[0m"],
)  # fmt: skip
def test_a_person_who_says_this_wants_the_rest_done(text):
    assert is_go_on(text)


@pytest.mark.parametrize(
    "text",
    ["", "?!", "please", "on", "go", "go on to the kitchen", "continue the tour", "don't go on", "do not continue",
     "resume the old résumé", "go on the table", "carry on my luggage", "stop and go on", "what goes on"],
)  # fmt: skip
def test_this_is_something_else(text):
    assert not is_go_on(text)
