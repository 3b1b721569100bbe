"""What people say while a robot works, and the edit that the rules make of it."""

from __future__ import annotations

import time

import pytest

from llm_planner.correction.rule_reader import read_by_rules
from llm_planner.correction.utterances import read_requests
from llm_planner.plan.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Clarify,
    Confirm,
    Edit,
    Forget,
    Frame,
    Hold,
    Insert,
    Lifetime,
    LiftRule,
    Move,
    Rebind,
    Remember,
    Remove,
    Replace,
    Resume,
    Scope,
    Shift,
    Undo,
)


@pytest.fixture
def said(sources):
    """The operations for words in a situation; None where the rules have no reading."""

    def operations(words, situation):
        edit = read_by_rules(words, situation, sources)
        return None if edit is None else edit.operations

    return operations


def speed(value, change=Change.SCALE):
    return (Adjust("speed", change, pytest.approx(value)),)


def slower_in(*steps):
    return tuple(Adjust("speed", Change.SCALE, 0.5, step) for step in steps)


def higher_in(*steps):
    return tuple(Adjust("height", Change.SHIFT, 0.05, step) for step in steps)


@pytest.mark.parametrize(
    "words", ["stop", "freeze!", "stand stil", "forget it", "call it off", "don't move, wet floor"]
)
def test_stop_drops_the_plan(said, at_table, words) -> None:
    assert said(words, at_table(1)) == (Cancel(),)


@pytest.mark.parametrize(
    "words", ["wait", "hold on a sec", "hang on, let me think", "one moment please", "pause, somebody is at the door"]
)
def test_wait_holds(said, at_table, words) -> None:
    assert said(words, at_table(1)) == (Hold(),)


@pytest.mark.parametrize(
    "words", ["go on", "okay go, the phone call is over", "you can continue now", "carry on please"]
)
def test_go_on_resumes(said, at_table, words) -> None:
    assert said(words, at_table(1)) == (Resume(),)


@pytest.mark.parametrize("words", ["don't stop", "keep going", "well done", "thank you", "um", "never stop"])
def test_praise_and_dont_stop_are_surely_no_correction(said, at_table, words) -> None:
    assert said(words, at_table(1)) == ()


@pytest.mark.parametrize(
    "words",
    ["the game stops", "put the laundry on the line",
     "slower than the mug", "left is where my heart is", "skip the blue washing machine", "wave at Bob and go left"],
)  # fmt: skip
def test_what_holds_a_word_that_no_rule_accounts_for_is_left_to_others(said, at_table, words) -> None:
    assert said(words, at_table(1)) is None


@pytest.mark.parametrize(
    ("words", "offset"),
    [
        ("a bit to the left", (0.0, 0.02, 0.0)),
        ("could you nudge it over to my right a touch please", (0.0, -0.02, 0.0)),
        ("up", (0.0, 0.0, 0.04)),
        ("lower it slightly", (0.0, 0.0, -0.02)),
        ("a lot further away", (0.08, 0.0, 0.0)),
        ("closer, by about 3 cm", (-0.03, 0.0, 0.0)),
        ("left a litle bit", (0.0, 0.02, 0.0)),
        ("too high", (0.0, 0.0, -0.04)),
    ],
)
def test_a_shift_is_measured_by_what_is_held(said, at_table, words, offset) -> None:
    assert said(words, at_table(2, "red block")) == (Shift(offset),)


@pytest.mark.parametrize(
    "words",
    [
        "whoops, too far",
        "back a bit",
        "no, to the right a little",
        "the other way",
        "not so far left",
        "less to the left",
    ],
)
def test_left_and_then_too_far_is_half_of_it_back(said, at_table, words) -> None:
    left = Edit((Shift((0.0, 0.04, 0.0)),))
    assert said(words, at_table(2, "red block", edits=[left])) == (Shift((0.0, -0.02, 0.0)),)


def test_from_now_on_lasts_for_the_plan_and_is_to_be_kept(at_table, sources) -> None:
    edit = read_by_rules("keep more to the left from now on", at_table(2, "red block"), sources)
    assert edit is not None
    assert (edit.operations, edit.scope) == ((Shift((0.0, 0.04, 0.0), lifetime=Lifetime.PLAN),), Scope.ALWAYS)


def test_the_robots_left_is_in_its_own_frame(said, at_table) -> None:
    assert said("to your left", at_table(2, "red block")) == (Shift((0.0, 0.04, 0.0), Frame.ROBOT),)


@pytest.mark.parametrize(
    ("words", "operations"),
    [
        ("slower", speed(0.5)),
        ("slwoer pls", speed(0.5)),
        ("a tad slower would you", speed(0.75)),
        ("not so fast", speed(0.5)),
        ("way too fast", speed(0.25)),
        ("hurry up, I haven't got all day", speed(2.0)),
        ("you're too slow", speed(2.0)),
        ("gently with that mug", slower_in("3", "4")),
        ("half speed", speed(0.5, Change.SET)),
        ("30 percent speed", speed(0.3, Change.SET)),
        ("two thirds of the speed", speed(0.67, Change.SET)),
        ("a third as fast", speed(0.33)),
        ("slower, but only with the mug", slower_in("3", "4")),
        ("while you hold the mug go slower", slower_in("3", "4")),
        ("slower, but not with the red block", slower_in("3", "4", "5", "6")),
        ("slower with the mug and the yellow block", slower_in("3", "4", "5", "6")),
        ("carry it higher, but only the mug", higher_in("3", "4")),
        ("higher with the mug", higher_in("3", "4")),
        ("as slow as possible", speed(0.25)),
        ("stay low", (Adjust("height", Change.SHIFT, -0.05),)),
        ("back to normal speed", speed(1.0, Change.SET)),
        ("twice as fast", speed(2.0)),
        ("don't go slower", ()),
        ("carry it a bit higher", (Adjust("height", Change.SHIFT, 0.025),)),
        ("give everything a wider berth", (Adjust("clearance", Change.SHIFT, 0.02),)),
        ("leave a smaller gap to the plate", (Adjust("distance", Change.SCALE, pytest.approx(2 / 3), "4"),)),
    ],
)
def test_quantities(said, at_table, words, operations) -> None:
    assert said(words, at_table(1)) == operations


@pytest.mark.parametrize(
    ("words", "operations"),
    [
        ("no, the blue one", (Rebind("1", "object", "blue block"),)),
        ("not the red one, the yellow one", (Rebind("1", "object", "yellow block"),)),
        ("use the blue block instead of the yellow one", (Rebind("5", "object", "blue block"),)),
        ("the red, no, the blue one", (Rebind("1", "object", "blue block"),)),
        ("the red block should go in the blue bowl", (Rebind("2", "object", "blue bowl"),)),
        ("in the blue bowl, not the green one", (Rebind("2", "object", "blue bowl"),)),
        ("put it next to the vase instead", (Replace("2", "place_beside", {"object": "vase"}),)),
        ("no bowl, put it on the plate", (Replace("2", "place_on", {"object": "plate"}),)),
        ("the mug on the left of the plate please", (Rebind("4", "direction", "left"),)),
        ("yellow block first", (Move(("5", "6"), "3"),)),
        ("before the mug do the yellow block", (Move(("5", "6"), "3"),)),
        ("leave the mug for later", (Move(("3", "4")),)),
        ("the mug after the yellow block", (Move(("3", "4")),)),
        ("don't bother with the mug", (Remove("3"), Remove("4"))),
        ("no mug", (Remove("3"), Remove("4"))),
        ("skip this one", (Remove("1"), Remove("2"))),
    ],
)
def test_steps(said, at_table, words, operations) -> None:
    assert said(words, at_table(1)) == operations


@pytest.mark.parametrize(
    "words",
    ["take the purple one", "skip the teapot", "in the purple bowl instead", "do the dog first", "no, the other block"],
)
def test_what_is_not_there_or_not_one_thing_is_asked_for(said, at_table, words) -> None:
    operations = said(words, at_table(1))
    assert len(operations) == 1
    assert isinstance(operations[0], Clarify)


def test_a_room_instead_of_another(said, in_house) -> None:
    assert said("no, the hall", in_house(3, "mug")) == (Rebind("3", "destination", "hall"),)
    assert said("to the kitchen, no, the hall", in_house(3, "mug")) == (Rebind("3", "destination", "hall"),)
    assert said("follow her for two minutes instead", in_house(6)) == (Adjust("seconds", Change.SET, 120.0, "6"),)


def test_more_to_do_is_written_by_the_planner(said, at_table) -> None:
    found = said("and then move the vase to the middle as well", at_table(2, "red block"))
    assert found == (Insert("pick", {"object": "vase"}), Insert("place_at", {"place": "middle"}))
    assert {insert.before for insert in said("before that, move the vase away", at_table(2, "red block"))} == {"3"}


def test_a_rule_is_formalised_and_lifted(said, at_table) -> None:
    assert said("always stay clear of the vase", at_table(1)) == (
        AddRule("G !near(robot, vase)", "stay clear of the vase"),
    )
    ruled = at_table(1, rules=[("G !near(robot, vase)", "keep away from the vase")])
    assert said("you don't have to keep away from the vase any more", ruled) == (LiftRule("G !near(robot, vase)"),)


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("undo that", Undo()),
        ("never mind", Undo()),
        ("as it was before", Undo()),
        ("remember that", Remember(Scope.ALWAYS)),
        ("just this once", Remember(Scope.ONCE)),
        ("only for now, mind", Remember(Scope.TASK)),
        ("that goes for today", Remember(Scope.SESSION)),
        ("forget that", Forget("")),
        ("forget what I told you about the mug", Forget("mug")),
        ("forget everything", Forget("everything")),
    ],
)
def test_memory_and_undo(said, at_table, words, operation) -> None:
    assert said(words, at_table(1)) == (operation,)


@pytest.mark.parametrize("words", ["always go slower with the mug", "whenever you carry the mug go slower"])
def test_what_it_is_to_be_remembered_of(at_table, sources, words) -> None:
    edit = read_by_rules(words, at_table(1), sources)
    assert edit is not None
    assert (edit.operations, edit.scope, edit.about) == (slower_in("3", "4"), Scope.ALWAYS, "mug")


def test_a_question_is_answered_with_yes_or_no(said, at_table) -> None:
    asked = at_table(1, asked=Clarify("Shall I lift the rule?", ("yes", "no")))
    assert said("sure, go ahead", asked) == (Confirm(True),)
    assert said("nope, leave it as it is", asked) == (Confirm(False),)
    assert said("yes", at_table(1)) == ()


@pytest.mark.parametrize("words", ["the yellow one", "number two", "the last", "yellow", "the yellow block please"])
def test_a_question_is_answered_with_an_option(said, at_table, words) -> None:
    asked = at_table(1, asked=Clarify("Which one?", ("the blue block", "the yellow block")))
    assert said(words, asked) == (Rebind("1", "object", "yellow block"),)


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        ("never faster than 0.1 m/s", "G speed(robot) < 0.1"),
        ("no faster than 5 cm a second, please", "G speed(robot) < 0.05"),
        ("20cm/s at most", "G speed(robot) < 0.2"),
    ],
)
def test_a_speed_with_its_unit_is_a_rule(at_table, words, formula) -> None:
    (rule,) = read_by_rules(words, at_table(1)).operations
    assert rule.formula == formula


def test_wait_before_what_is_to_be_done_is_no_order_to_wait(said, at_table) -> None:
    assert said("wait a second, skip the mug", at_table(1)) == (Remove("3"), Remove("4"))
    assert said("slower, and wait", at_table(1)) == (*speed(0.5), Hold())


def test_several_in_one_breath_keep_their_order(said, at_table) -> None:
    assert said("skip the mug, and then hurry up", at_table(1)) == (Remove("3"), Remove("4"), *speed(2.0))
    assert said("a bit up and slower", at_table(2, "red block")) == (Shift((0.0, 0.0, 0.02)), *speed(0.5))


@pytest.mark.parametrize(
    ("words", "operations"),
    [
        ("a bit to the left, no, right", (Shift((0.0, -0.02, 0.0)),)),
        ("slower, sorry, faster", speed(2.0)),
        ("do the mug first, I mean the yellow block", (Move(("5", "6"), "3"),)),
        ("put it in the green, no, the blue bowl", (Rebind("2", "object", "blue bowl"),)),
    ],
)
def test_what_is_taken_back_in_the_same_breath_does_not_count(said, at_table, words, operations) -> None:
    assert said(words, at_table(2, "red block")) == operations


def test_an_edit_names_the_words_and_the_version_that_it_was_made_for(at_table, sources) -> None:
    edit = read_by_rules("slower", at_table(1, edits=[Edit((Undo(),))]), sources)
    assert edit is not None
    assert (edit.words, edit.version) == ("slower", 1)


def test_an_utterance_is_read_in_a_few_milliseconds(at_table) -> None:
    words, scene = (
        "okay, put the mug on the left of the plate, no, the vase, and go a bit slower please",
        at_table(1).scene,
    )
    read_requests(words, scene)
    begun = time.process_time()
    for _ in range(20):
        read_requests(words, scene)
    assert (time.process_time() - begun) / 20 < 0.02  # [s] with room for a slow machine
