"""Wishes, questions and needs are put plainly before the phrases are tried; what is told of others is no correction."""

from __future__ import annotations

import pytest

from llm_planner.correction.plain_speech import plainly, plainly_of_things
from llm_planner.correction.requests import Intent
from llm_planner.correction.utterances import is_reason, read_requests
from llm_planner.correction.verb_forms import plain_gerund, plain_past


@pytest.mark.parametrize(
    ("form", "verb"), [("took", "take"), ("went", "go"), ("moved", "move"), ("carried", "carry"), ("banana", "")]
)
def test_the_past_of_a_verb(form, verb) -> None:
    assert plain_past(form) == verb


@pytest.mark.parametrize(("form", "verb"), [("putting", "put"), ("taking", "take"), ("carrying", "carry"), ("red", "")])
def test_the_form_with_ing_of_a_verb(form, verb) -> None:
    assert plain_gerund(form) == verb


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("i would rather you took the mug", "take the mug"),
        ("would you mind going slower", "go slower"),
        ("would you mind not going so fast", "do not go so fast"),
        ("it would be nice if you moved left", "move left"),
        ("i do not want you going near the vase", "do not go near the vase"),
        ("i would rather you sang", "i would rather you sang"),  # no verb of a robot's work
        ("that is not high enough", "that is too low"),
        ("until it is done , stay away from the vase", "stay away from the vase until it is done"),
        ("you are not quite going fast enough yet", "you are going too slow"),
        ("not far enough", "not far enough"),
        ("go left", "go left"),
    ],
)
def test_wishes_put_plainly(said, plain) -> None:
    assert plainly(said) == plain


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("#0 needs moving to the left", "move #0 to the left"),
        ("i would also like #0 moved to %1", "also move #0 to %1"),
        ("give #0 another press", "press #0 again"),
        ("do your waiting in @0", "wait in @0"),
        ("then #0 wants to be on #1", "then put #0 on #1"),
        ("nip over to @0", "go to @0"),
        ("that is how i want it done", "that is how i want it done"),
    ],
)
def test_needs_put_plainly(said, plain) -> None:
    assert plainly_of_things(said) == plain


def test_a_reason_may_name_what_is_here_but_asks_for_nothing_itself() -> None:
    assert is_reason("you nearly clipped #0")
    assert is_reason("because #0 is mine")
    assert not is_reason("you nearly clipped #0 , slow down")


@pytest.mark.parametrize(
    "words",
    ["my sister left yesterday", "did you see the game", "I couldn't stop laughing", "we had to skip lunch again",
     "Tom forgot his folder on the train", "first come, first served, as they say"],
)  # fmt: skip
def test_stories_are_no_corrections(at_table, words) -> None:
    (request,) = read_requests(words, at_table(1).scene)
    assert request.intent is Intent.NOTHING


@pytest.mark.parametrize(
    "words",
    [
        "my boss is here now tilt the wobbly one",
        "somebody is coming, frobnicate it please",
        "he wants the shiny one up",
    ],
)
def test_what_turns_to_the_robot_is_no_story(at_table, words) -> None:
    assert read_requests(words, at_table(1).scene) is None
