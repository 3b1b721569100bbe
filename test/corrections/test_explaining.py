"""Questions about the plan are answered from plan, edits, rules and forecast; nothing is changed by asking."""

from __future__ import annotations

import pytest

from llm_planner.corrections.dialogue_session import (
    NO_CORRECTION,
    NO_PLAN_YET,
    DialogueSession,
    EditResult,
    EditStatus,
    Read,
    Recall,
    Send,
    explanation,
    is_question,
    reading_of,
    supposed_words,
)
from llm_planner.corrections.edits import Edit, Outcome, Rebind
from llm_planner.corrections.reading import CorrectionReader
from llm_planner.corrections.situation import Situation
from llm_planner.plans.plan import Plan
from llm_planner.scene.scene import Scene

RULES = (("G !over(robot, vase)", "never reach over the vase"),)


def answered(words, situation, results=(), running=True):
    """The answer to words that the embedded model reads, and what was asked of the plan."""
    turn, sent, results, reply = DialogueSession().hear(words, None), [], iter(results), None
    while True:
        try:
            step = turn.send(reply)
        except StopIteration as end:
            return end.value, sent
        match step:
            case Read(said):
                reply = reading_of(CorrectionReader().read(said, situation), situation, running)
            case Recall():
                reply = situation
            case Send():
                sent.append(step)
                reply = next(results)
            case _:
                raise AssertionError(f"{step} is no part of an answer")


def test_what_it_does_is_answered_by_the_step_its_effect_what_comes_next_and_the_rules(at_table):
    answer, sent = answered("what are you doing?", at_table(1, rules=RULES))
    assert answer.outcome is Outcome.NOTHING
    assert answer.message.startswith(
        'I do step 1 of 6, pick("red block"), for “as asked”; after it, the red block is in'
    )
    assert "next: place_in(" in answer.message
    assert answer.message.endswith("I keep that the robot is never over the vase")
    assert not sent


def test_why_is_answered_by_the_words_that_put_the_step_into_the_plan(at_table):
    answer, _ = answered("why did you do that?", at_table(1))
    assert 'pick("red block") is in the plan because you said “as asked”' in answer.message


def test_why_names_the_correction_that_gave_the_step_its_object(at_table):
    edit = Edit((Rebind("1", "object", "red block"),), "no, the red one")
    answer, _ = answered("why the red one?", at_table(1, edits=(edit,)))
    assert "because you corrected “as asked” by “no, the red one”" in answer.message


def test_a_correction_of_another_step_is_named_but_not_as_the_reason(at_table):
    edit = Edit((Rebind("3", "object", "mug"),), "the mug instead")
    answer, _ = answered("why are you doing this?", at_table(1, edits=(edit,)))
    assert "because you said “as asked”" in answer.message
    assert "corrected by “the mug instead”" in answer.message


def test_after_the_end_the_last_step_is_explained(at_table):
    answer, _ = answered("why did you do that?", at_table(6), running=False)
    assert "because you said “as asked”" in answer.message


def test_before_the_first_command_it_says_that_there_is_nothing_to_explain():
    empty = Situation(Plan("", ""), Scene(0.0, ()), {})
    assert explanation("what are you doing?", empty) == NO_PLAN_YET


def test_what_would_happen_is_checked_against_the_plan_and_changes_nothing(at_table):
    made = EditResult(EditStatus.ACCEPTED, difference=("~ speed 1 -> 0.5 of the full speed",))
    answer, sent = answered("what would happen if I said slower?", at_table(1), [made])
    assert answer.message == "“slower” would change: ~ speed 1 -> 0.5 of the full speed. All stays as it is"
    assert answer.outcome is Outcome.NOTHING
    assert [step.only_check for step in sent] == [True]


def test_words_that_would_be_a_correction_are_not_taken_for_one_when_only_supposed(at_table):
    """Read whole, “what if I said no, the blue one?” is a correction to the embedded model."""
    refused = EditResult(EditStatus.REFUSED, "the blue block is out of reach")
    answer, sent = answered("what if I said “no, the blue one”?", at_table(1), [refused])
    assert answer.message == "“no, the blue one” would be refused: the blue block is out of reach"
    assert all(step.only_check for step in sent)


def test_supposed_words_that_are_no_correction_or_unclear_are_answered_without_the_plan(at_table):
    answer, sent = answered("what if I said what a nice day?", at_table(1))
    assert answer.message == "I would hear no correction in “what a nice day”"
    assert not sent


def test_talk_that_is_no_question_stays_no_correction(at_table):
    answer, _ = answered("what a nice day", at_table(1))
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, NO_CORRECTION)


@pytest.mark.parametrize(
    ("words", "supposed"),
    [
        ("what would happen if I said slower?", "slower"),
        ("What happens if I say: “a bit to the left”?", "a bit to the left"),
        ("what if I said stop", "stop"),
        ("what would happen if it fell?", ""),
        ("if I say slower, go slower", ""),
        ("slower", ""),
    ],
)
def test_only_words_that_are_said_to_be_supposed_are(words, supposed):
    assert supposed_words(words) == supposed


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("why did you do that", True),
        ("what are you doing", True),
        ("are you done?", True),
        ("which block will you take next", True),
        ("what a nice day it is", False),
        ("nice work", False),
    ],
)
def test_a_question_has_its_mark_or_its_word(words, asks):
    assert is_question(words) is asks
