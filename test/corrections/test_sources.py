"""The real sources: the product's own reader of constraints and its own planner, over a model."""

from __future__ import annotations

import pytest

from llm_planner.corrections.building_errands import scene_before
from llm_planner.corrections.edits import AddRule, Clarify, Insert
from llm_planner.corrections.situation import sources_with
from llm_planner.scene.places import BEHIND

CORRECTIONS = {
    "hands off the vase": 'rule("hands off the vase")',
    "and then put the vase on the plate": 'add("put the vase on the plate")',
    "then press the button": 'add("press the button")',
}
COMMANDS = {
    "hands off the vase": 'never(moved("the vase"))',
    "put the vase on the plate": 'put("the vase", on("the plate"))',
    "press the button": 'press("the button")',
    "put the mug in the blue bowl": 'put("the mug", in("the blue bowl"))',
}


@pytest.fixture
def real_sources(listed_model, signatures):
    return sources_with(listed_model(COMMANDS), tuple(signatures.values()), BEHIND)


@pytest.fixture
def heard(listed_corrections, real_sources):
    """The operations that words come to."""
    reader = listed_corrections(CORRECTIONS, real_sources)
    return lambda words, situation: reader.read(words, situation).operations


def test_a_rule_becomes_a_formula(heard, at_table) -> None:
    assert heard("hands off the vase", at_table(1)) == (AddRule("G !moved(vase)", "hands off the vase"),)


def test_more_to_do_becomes_steps(heard, at_table) -> None:
    steps = (Insert("pick", {"object": "vase"}), Insert("place_on", {"object": "plate"}))
    assert heard("and then put the vase on the plate", at_table(2, "red block")) == steps


def test_the_planner_sees_the_scene_as_it_will_be(real_sources, at_table) -> None:
    situation = at_table(2, "red block")
    later = scene_before("", situation)
    assert later.held == ""
    assert later.find("yellow block").position[1] > 0.2  # on the left side
    assert scene_before("3", situation).find("mug").position == situation.scene.find("mug").position
    steps = real_sources.write_steps("put the mug in the blue bowl", later)
    assert [step.skill for step in steps] == ["pick", "place_in"]


def test_what_the_planner_asks_is_asked(heard, at_table) -> None:
    (question,) = heard("then press the button", at_table(1))
    assert isinstance(question, Clarify)
    assert "button" in question.question
