"""The real sources: the product's own reader of constraints and its own planner."""

from __future__ import annotations

from llm_planner.correction.building_additions import scene_before
from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.sources import offline_sources
from llm_planner.plan.edits import AddRule, Clarify, Insert


def test_a_rule_becomes_a_formula(at_table) -> None:
    edit = read_by_rules("never touch the vase", at_table(1))
    assert edit is not None
    assert edit.operations == (AddRule("G !moved(vase)", "never touch the vase"),)


def test_more_to_do_becomes_steps(at_table) -> None:
    edit = read_by_rules("and then put the vase on the plate", at_table(2, "red block"))
    assert edit is not None
    assert edit.operations == (Insert("pick", {"object": "vase"}), Insert("place_on", {"object": "plate"}))


def test_the_planner_sees_the_scene_as_it_will_be(at_table) -> None:
    situation = at_table(2, "red block")
    later = scene_before("", situation)
    assert later.held == ""
    assert later.find("yellow block").position[1] > 0.2  # on the left side
    assert scene_before("3", situation).find("mug").position == situation.scene.find("mug").position
    steps = offline_sources(situation).write_steps("put the mug in the blue bowl", later)
    assert [step.skill for step in steps] == ["pick", "place_in"]


def test_what_the_planner_asks_is_asked(at_table) -> None:
    edit = read_by_rules("then press the button", at_table(1))
    assert edit is not None
    assert isinstance(edit.operations[0], Clarify)
