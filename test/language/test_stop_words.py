"""What counts as "stop", without any model."""

from __future__ import annotations

import pytest

from llm_planner.language.stop_words import Stop, heard_stop, is_stop


@pytest.mark.parametrize(
    "text",
    [
        "stop", "Stop!", "STOP STOP STOP", "please stop", "hey robot, stop right there", "no no, wait, stop", "halt",
        "freeze!", "stop the arm", "abort", "cancel that", "whoa", "don't move", "do not move", "stand still",
        "emergency stop", "e-stop", "okay stop now", "Stop, not that one",
    ],
)  # fmt: skip
def test_a_person_who_says_this_is_obeyed_at_once(text):
    assert is_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "?!", "put the red block in the bowl", "don't stop", "never stop stacking",
        "push the mug until it stops",
        "pick up the block by the stop sign", "hold the red block", "stay tuned", "please", "now put it back",
        "the robot should stand the mug up", "stop for a moment", "can you stop for just a second",
    ],
)  # fmt: skip
def test_this_is_an_ordinary_command(text):
    assert not is_stop(text)


def test_a_stop_in_colour_is_heard() -> None:
    assert is_stop("\x1b[31mst\x07op\x1b[0m")


@pytest.mark.parametrize(
    "text",
    ["could you stop please", "that's enough, stop", "careful, stop!", "no wait - stop it", "I said stop",
     "can you stop now",
     "cancel the plan", "cancel everything", "whoa, you'll hit it", "don't move, wet floor",
     "okay that is enough stop"],
)  # fmt: skip
def test_a_stop_may_come_after_other_words(text):
    assert is_stop(text)


@pytest.mark.parametrize(
    "text",
    ["don't move the blue bowl", "don't move left",
     "stop by the office later", "no need to stop", "don't stop, it's fine",
     "I couldn't stop laughing at that film", "he said to stop being silly", "the bus stop is over there",
     "cancel that last change", "cancel that correction", "cancel the parcel",
     "cancel my appointment", "okay, tell him to stop smoking", "you can stop worrying"],
)  # fmt: skip
def test_talk_in_which_the_word_occurs_is_none(text):
    assert not is_stop(text)


@pytest.mark.parametrize("text", ["stpo", "stop", "Stand stil!", "hlat", "freze", "please stpo"])
def test_a_short_stop_may_be_misspelt(text):
    assert is_stop(text)


@pytest.mark.parametrize("text", ["top", "shop", "hold it up", "salt", "the left hand", "told you", "sand"])
def test_words_that_are_like_a_stop_are_none(text):
    assert not is_stop(text)


@pytest.mark.parametrize(
    "text", ["stop", "no no, wait, stop", "stay where you are", "cancel the whole job", "woah, stop!"]
)
def test_only_a_stop_drops_the_plan_unread(text):
    assert heard_stop(text) is Stop.ONLY


@pytest.mark.parametrize(
    "text", ["hold on, stop there, I need my phone", "wait a tick, don't move, wet floor", "stop, not that one"]
)
def test_what_is_said_besides_a_stop_is_to_be_read(text):
    assert heard_stop(text) is Stop.AND_MORE


@pytest.mark.parametrize("text", ["whoa, not so fast", "whoa there, slow down", "woah, you'll hit it"])
def test_an_exclamation_is_no_order_to_stop(text):
    assert heard_stop(text) is Stop.EXCLAIMED
