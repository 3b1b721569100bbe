"""What "it" stands for where it was named before the request."""

from __future__ import annotations

import pytest

from llm_planner.correction.antecedents import with_antecedent
from llm_planner.correction.requests import Intent, Request


def rule(text: str) -> Request:
    return Request(Intent.RULE, text=text)


@pytest.mark.parametrize(
    ("words", "request_", "text"),
    [
        ("there's soup in the bowl, don't reach over it", rule("do not reach over it"), "do not reach over the bowl"),
        ("the vase is old so never touch it", rule("never touch it"), "never touch the vase"),
        ("the vase is tin, you may touch it", Request(Intent.LIFT, text="you may touch it"), "you may touch the vase"),
        ("the vase and the mug are old, never touch it", rule("never touch it"), "never touch it"),
        ("never touch it", rule("never touch it"), "never touch it"),
        ("there's a unicorn here, never touch it", rule("never touch it"), "never touch it"),
        ("the mug is hot, keep away from the vase", rule("keep away from the vase"), "keep away from the vase"),
    ],
)  # fmt: skip
def test_a_rule_about_it_is_about_the_one_thing_that_was_named_before(words, request_, text, at_table) -> None:
    assert with_antecedent(request_, words, at_table(1).scene).text == text


def test_of_a_room_there_is_in_it(in_house) -> None:
    found = with_antecedent(rule("do not go there"), "the office is being painted, do not go there", in_house(1).scene)
    assert found.text == "do not go in the office"


def test_whose_errand_is_to_be_left_out_may_be_named_before(in_house) -> None:
    scene = in_house(1).scene
    found = with_antecedent(Request(Intent.SKIP_THIS), "Anna is not there today, skip her", scene)
    assert (found.intent, found.thing) == (Intent.SKIP, "anna")
    assert with_antecedent(Request(Intent.SKIP_THIS), "Anna is not there, skip it", scene).intent is Intent.SKIP_THIS


def test_what_is_to_be_left_out_may_be_named_before(at_table) -> None:
    skip = Request(Intent.SKIP, thing="that")
    assert with_antecedent(skip, "the mug is broken, skip that", at_table(1).scene).thing == "the mug"
    assert with_antecedent(skip, "skip that", at_table(1).scene) == skip
