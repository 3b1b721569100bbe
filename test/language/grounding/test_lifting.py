"""Lifting: finds what a command names, whatever the names are and however they are typed."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm_planner.language.grounding.lifting import Lifted, lift
from llm_planner.language.grounding.naming import proposition_phrases, scene_phrases
from llm_planner.scene.scene import Scene


def text(lifted: list[Lifted]) -> str:
    """With classes in place of names and amounts."""
    return " ".join(word.text if word.segment == "word" else f"#{word.segment}" for word in lifted)


def named(lifted: list[Lifted]) -> tuple[str, ...]:
    return tuple(word.name for word in lifted if word.name)


@pytest.mark.parametrize(
    ("names", "command", "lifted", "meant"),
    [
        ("a b c", "visit c then a", "visit #prop then #prop", ("c", "a")),
        ("request grant", "every request is granted", "every #prop is #prop", ("request", "grant")),
        ("door_open alarm", "the door is open: no alarms", "the #prop : no #prop", ("door_open", "alarm")),
        ("doorOpen x", "when the door opens", "when the #prop", ("doorOpen",)),
        ("room_1 room_10", "go to room 10, never room 1", "go to #prop , never #prop", ("room_10", "room_1")),
        ("kitchen lab", "go to the kithcen", "go to the #prop", ("kitchen",)),
        ("toolbox box", "the tool box or a box", "the #prop or a #prop", ("toolbox", "box")),
    ],
)
def test_bare_propositions_are_found_in_their_words(
    names: str, command: str, lifted: str, meant: tuple[str, ...]
) -> None:
    sentence = lift(command, proposition_phrases(names.split()))
    assert text(sentence) == lifted
    assert named(sentence) == meant


def test_without_slips_only_the_name_itself_counts() -> None:
    phrases = proposition_phrases(("bring", "tray"))
    assert text(lift("stray from the tray", phrases)) == "#prop from the #prop"
    assert text(lift("stray from the tray", phrases, slips=False)) == "stray from the #prop"


def test_a_table_is_named_by_things_kinds_and_colours(table: Scene) -> None:
    sentence = lift("put the red cube by the blue one, and the blocks in the vase", scene_phrases(table))
    assert text(sentence) == "put the #object by the #color one , and the #kind in the #object"
    assert named(sentence) == ("red block", "blue", "block", "vase")
    assert [word.plural for word in sentence if word.name] == [False, False, True, False]


def test_a_building_is_named_by_rooms_people_and_things(rooms: Scene) -> None:
    sentence = lift("bring Anna's mug to the laboratory, not the server", scene_phrases(rooms))
    assert text(sentence) == "bring #person #object to the #room , not the #room"
    assert named(sentence) == ("Anna", "mug", "lab", "server room")


def test_numbers_times_and_lengths_keep_their_values() -> None:
    sentence = lift("three times in 2 minutes, 30 cm")
    assert text(sentence) == "#number times in #seconds , #quantity"
    assert [word.value for word in sentence if word.segment != "word"] == [3.0, 120.0, 0.3]


@pytest.mark.parametrize(
    ("said", "metres"),
    [("5 cm", 0.05), ("5cm", 0.05), ("ten centimeters", 0.1), ("twenty five centimetres", 0.25),
     ("Forty-five centimetres", 0.45), ("a good hand's width", 0.1), ("a couple metres", 2.0), ("half a meter", 0.5),
     ("a half metre", 0.5), ("two and a half metres", 2.5), ("0.1 m", 0.1), ("0,2 m", 0.2), ("100 mm", 0.1),
     ("an inch", 0.0254), ("2 inches", 0.0508)],
)  # fmt: skip
def test_a_length_is_one_word(said: str, metres: float) -> None:
    sentence = lift(f"move it {said} left")
    assert text(sentence) == "move it #quantity left"
    assert sentence[2].value == pytest.approx(metres)


@pytest.mark.parametrize(
    ("time", "seconds"),
    [("20 s", 20.0), ("a minute", 60.0), ("half a minute", 30.0), ("a minute and a half", 90.0), ("1.5 min", 90.0),
     ("one and a half minutes", 90.0), ("two minutes", 120.0), ("twenty five seconds", 25.0),
     ("ninety-five seconds", 95.0), ("a hundred and twenty seconds", 120.0), ("half a dozen minutes", 360.0),
     ("three quarters of an hour", 2700.0), ("5 more minutes", 300.0), ("30 secods", 30.0), ("2 mintues", 120.0)],
)  # fmt: skip
def test_a_time_is_one_word(time: str, seconds: float) -> None:
    sentence = lift(f"go there within {time} please")
    assert text(sentence) == "go there within #seconds please"
    assert [word.value for word in sentence if word.segment == "seconds"] == [seconds]


@pytest.mark.parametrize(
    ("words", "metres_per_second"),
    [("0.2 m/s", 0.2), ("10 cm / s", 0.1), ("50mm/sec", 0.05), ("half a metre per second", 0.5), ("6 m a minute", 0.1),
     ("2 m each second", 2.0), ("3.6 km/h", 1.0)],
)  # fmt: skip
def test_a_speed_is_one_word(words: str, metres_per_second: float) -> None:
    sentence = lift(f"no faster than {words} until then")
    assert text(sentence) == "no faster than #speed until then"
    assert [word.value for word in sentence if word.segment == "speed"] == [pytest.approx(metres_per_second)]


def test_a_length_beside_a_second_thing_is_no_speed() -> None:
    for words in ("2 m a second time", "2 m per aisle", "2 m /", "2 m, a second"):
        assert lift(words)[0].segment == "quantity"


@pytest.mark.parametrize("words", ["do it a second time", "0.2 m a second", "a second visit"])
def test_a_second_one_is_no_time(words: str) -> None:
    assert all(word.segment != "seconds" for word in lift(words))


def test_words_know_where_they_stand_in_the_command() -> None:
    command = "Go to the  kitchen, please"
    sentence = lift(command, proposition_phrases(("kitchen",)))
    assert [command[word.start : word.end] for word in sentence] == ["Go", "to", "the", "kitchen", ",", "please"]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
@example("wait ² minutes")
def test_any_text_can_be_lifted(text: str) -> None:
    spans = [(word.start, word.end) for word in lift(text, proposition_phrases(("kitchen", "a_b")))]
    assert spans == sorted(spans)
