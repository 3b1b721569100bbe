"""The tables that the rules are written in: what stands in them, and what a mistake in one is told as."""

from __future__ import annotations

import pytest

from llm_planner.correction.clauses import bare, normal, take_scope, take_size
from llm_planner.correction.manners import read_sections, ways
from llm_planner.correction.patterns import compiled, spaced
from llm_planner.correction.phrases import phrases, read_phrases
from llm_planner.correction.requests import Intent, Sense, Size
from llm_planner.correction.slips import corrected, one_slip
from llm_planner.errors import InputError
from llm_planner.plan.edits import Scope


def test_every_phrase_of_the_table_can_be_compiled_and_every_intent_is_said_somehow() -> None:
    assert all(phrase.pattern for phrase in phrases())
    assert {phrase.intent for phrase in phrases()} == set(Intent)


def test_a_pattern_has_alternatives_and_words_that_may_be_left_out() -> None:
    pattern = compiled("[please] (do|take) <x> first")
    assert pattern.fullmatch(spaced("please do #3 first"))
    assert pattern.fullmatch(spaced("take #3 first"))
    assert not pattern.fullmatch(spaced("take #3"))


def test_a_phrase_has_an_intent_slots_and_macros() -> None:
    (phrase,) = read_phrases("go = (go|drive)\nspeed: sense=less\n  {go} slower\n")
    assert (phrase.intent, phrase.slots) == (Intent.SPEED, {"sense": Sense.LESS})
    assert phrase.match("drive slower ", frozenset(("drive", "slower")))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("  go\n", r"line 1 of the phrases, '  go', is no pattern below an intent; indent it by two"),
        ("fly:\n  go\n", r"line 1 of the phrases asks for 'fly'; write one of: hold, resume"),
        ("speed: sense=often\n  go\n", r"line 1 of the phrases has a slot that cannot be read"),
        ("speed:\n  {going}\n", r"line 2 of the phrases uses \{going\}; there are: "),
    ],
)
def test_a_mistake_in_the_table_is_told_with_its_line(table: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_phrases(table))


def test_manners_stand_below_headings() -> None:
    assert read_sections("# why\nbefore:\n  please\n  so\n") == {"before": ["please", "so"]}
    with pytest.raises(
        InputError, match="'please' in the manners stands below no heading; put one, such as before:, above"
    ):
        read_sections("  please\n")
    with pytest.raises(InputError, match="the manners have no section 'during'; the sections are: before, after"):
        ways("during")


def test_contractions_and_pauses_are_written_out() -> None:
    assert normal("Don't -- it's the robot's left, 1.5 cm!") == "do not , it is the robot's left , 1.5 cm"


def test_politeness_is_taken_off_both_ends() -> None:
    assert bare("could you please go left now , thanks")[-1] == "go left"
    assert bare("okay thanks")[-1] == ""


def test_amounts_and_times_are_taken_off() -> None:
    assert take_size("go a little bit slower") == ("go slower", Size.BIT)
    assert take_size("way too fast") == ("too fast", Size.MUCH)
    assert take_scope("slower from now on") == ("slower", Scope.ALWAYS)


def test_a_slip_of_the_finger_is_put_right_where_one_word_is_meant(at_table) -> None:
    assert one_slip("slwoer", "slower")
    assert one_slip("litle", "little")
    assert not one_slip("left", "lift up")
    assert corrected("skp the mug", at_table().scene) == "skip the mug"
    assert corrected("tsk , the gren one", at_table().scene) == "tsk , the green one"
    assert corrected("slwoer wiht the muug , thanks", at_table().scene).startswith("slower wiht the mug")
