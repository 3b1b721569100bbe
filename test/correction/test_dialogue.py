"""What is asked, sent and told, from what was read."""

from __future__ import annotations

import pytest

from llm_planner.correction.dialogue import SILENT, Answer, Dialogue, Outcome, Send, heard, is_reflex, made
from llm_planner.plan.edits import Adjust, Cancel, Change, Clarify, Confirm, Edit, Hold, LiftRule, Resume

SLOWER = Edit((Adjust("speed", Change.SCALE, 0.5),), "slower")
LIFT = Edit((LiftRule("G !near(gripper, vase)"),), "you may go near the vase again")
QUESTION = Clarify("Which one?", ("the red block", "the blue block"))
CHANGE = ("- rule: keep away from the vase",)


def test_an_edit_is_sent_to_be_made_and_its_difference_told():
    dialogue, send = heard(SILENT, SLOWER)
    assert (dialogue, send) == (SILENT, Send(SLOWER))
    assert made(send, ("~ speed 1 -> 0.5",)) == (
        SILENT,
        Answer(Outcome.APPLIED, "~ speed 1 -> 0.5", SLOWER, ("~ speed 1 -> 0.5",)),
    )


@pytest.mark.parametrize(
    ("operation", "message"),
    [(Hold(), "I wait until you say go on"), (Resume(), "I go on"), (Cancel(), "stopped")],
)
def test_what_acts_at_once_is_told_in_words(operation, message):
    edit = Edit((operation,))
    assert is_reflex(edit)
    _, answer = made(Send(edit), ())
    assert (answer.outcome, answer.message) == (Outcome.APPLIED, message)


def test_a_change_is_no_reflex_and_nor_are_two_things_in_one_breath():
    assert not is_reflex(SLOWER)
    assert not is_reflex(Edit((Hold(), Resume())))


def test_a_question_stays_open_until_it_is_answered_and_is_told_with_its_options():
    dialogue, answer = heard(SILENT, Edit((QUESTION,)))
    assert dialogue.asked == QUESTION
    assert (answer.outcome, answer.message) == (Outcome.QUESTION, "Which one? (the red block / the blue block)")
    assert heard(dialogue, SLOWER) == (SILENT, Send(SLOWER))


def test_talk_leaves_a_question_open():
    dialogue, answer = heard(Dialogue(QUESTION), Edit(()))
    assert dialogue.asked == QUESTION
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "I hear no correction in that")


def test_a_rule_is_lifted_only_after_a_yes_and_asked_about_only_where_it_can_be():
    dialogue, look = heard(SILENT, LIFT)
    assert look == Send(LIFT, confirmed=True, only_check=True)
    dialogue, answer = made(look, CHANGE)
    assert answer.outcome is Outcome.QUESTION
    assert answer.message == "shall I no longer keep this? - rule: keep away from the vase (yes / no)"
    assert heard(dialogue, Edit((Confirm(True),))) == (SILENT, Send(LIFT, confirmed=True))


def test_a_no_keeps_the_rule():
    dialogue, _ = made(Send(LIFT, confirmed=True, only_check=True), CHANGE)
    after, answer = heard(dialogue, Edit((Confirm(False),)))
    assert (after, answer.outcome, answer.message) == (SILENT, Outcome.NOTHING, "all stays as it is")


def test_a_yes_after_something_else_was_said_lifts_nothing():
    dialogue, _ = made(Send(LIFT, confirmed=True, only_check=True), CHANGE)
    dialogue, _ = heard(dialogue, SLOWER)
    _, answer = heard(dialogue, Edit((Confirm(True),)))
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "there is no question to which “yes” is the answer")
