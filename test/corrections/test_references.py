"""Which thing, room or place the words mean."""

from __future__ import annotations

import pytest

from llm_planner.corrections.references import (
    UnclearError,
    candidates,
    described,
    names_in,
    only,
    the_region,
    the_room,
)
from llm_planner.scene.places import VIEWPOINTS


@pytest.mark.parametrize(
    ("words", "like", "names"),
    [
        ("the blue one", "red block", ["blue block"]),
        ("the blue one", "green bowl", ["blue bowl"]),
        ("the other bowl", "green bowl", ["blue bowl"]),
        ("the cup", "", ["mug"]),
        ("the cube", "", ["red block", "blue block", "yellow block"]),
        ("all the blocks", "", ["red block", "blue block", "yellow block"]),
        ("the purple block", "", []),
        ("the dog", "", []),
        ("the leftmost block", "", ["yellow block"]),
        ("the smaller bowl", "", ["green bowl"]),
        ("either of the bowls", "", ["green bowl", "blue bowl"]),
        ("one of the blue ones", "", ["blue block", "blue bowl"]),
        ("one yellow block", "", ["yellow block"]),
        ("either of the blues", "", ["blue block", "blue bowl"]),
        ("one of the two blue", "green bowl", ["blue bowl"]),
        ("two bowls", "", ["green bowl", "blue bowl"]),
        ("yellow friend", "", ["yellow block"]),
        ("blue friend", "", []),
        ("the vasse", "", ["vase"]),
        ("the yelow", "", ["yellow block"]),
        ("that fellow", "", []),
    ],
)
def test_things_are_known_by_colour_kind_side_and_what_they_stand_in_for(at_table, words, like, names) -> None:
    assert [item.name for item in candidates(words, at_table().scene, like=like)] == names


def test_left_is_the_speakers(at_table) -> None:
    assert [item.name for item in candidates("the left block", at_table().scene, VIEWPOINTS["facing"])] == ["red block"]


def test_several_that_fit_are_a_question_that_names_them(at_table) -> None:
    with pytest.raises(
        UnclearError, match=r"Which one do you mean by “the bowl”: the green bowl or the blue bowl\?"
    ) as e:
        only(candidates("the bowl", at_table().scene), "the bowl", at_table().scene)
    assert e.value.options == ("the green bowl", "the blue bowl")


def test_none_that_fits_is_a_question_that_says_what_there_is(at_table) -> None:
    with pytest.raises(UnclearError, match=r"nothing here that is “the dog”. There is the red block, .* and the vase"):
        only((), "the dog", at_table().scene)


def test_a_room_goes_by_its_name_and_one_that_is_not_there_is_a_question(in_house) -> None:
    assert the_room("the office", in_house().scene) == "office"
    assert the_room("the kithcen", in_house().scene) == "kitchen"
    with pytest.raises(UnclearError, match=r"no room called “the attic”. The rooms are: kitchen, hall and office"):
        the_room("the attic", in_house().scene)


def test_a_place_on_the_table_has_several_names(at_table) -> None:
    assert the_region("the upper left corner of the table") == "top left corner"
    assert the_region("back of the table") == the_region("back") == "top side"
    with pytest.raises(UnclearError, match=r"no place called “the edge”. The places are: top left corner, .*middle"):
        the_region("the edge")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("put the cup beside the vase", ("mug", "vase")),
        ("the bowls, then the plate", ("green bowl", "blue bowl", "plate")),
        ("anything yellow", ("yellow block",)),
        ("move that one to the left", ()),
    ],
)
def test_a_text_speaks_of_things_by_name_kind_and_colour(at_table, text, names) -> None:
    assert names_in(text, at_table().scene) == names


def test_a_text_speaks_of_people_and_rooms(in_house) -> None:
    assert names_in("Anna is in the office", in_house().scene) == ("Anna", "office")


def test_people_are_all_persons_and_a_possessive_is_not_the_thing(in_house) -> None:
    scene = in_house().scene
    assert [item.name for item in candidates("people", scene)] == ["Anna"]
    assert described("people", scene).plural
    assert names_in("you pass too near the people", scene) == ("Anna",)
    assert [item.name for item in candidates("wrong fella", scene)] == ["Anna"]
    assert not described("the wrong fella", scene).plural
    assert [item.name for item in candidates("anna's mug", scene)] == ["mug"]


def test_one_of_several_is_not_all_of_them(at_table) -> None:
    assert described("the blue ones", at_table().scene).plural
    assert not described("one of the blue ones", at_table().scene).plural
    assert described("the blues", at_table().scene).plural


def test_a_person_is_called_by_name(in_house) -> None:
    found = [candidates(words, in_house().scene) for words in ("anna", "Anna")]
    assert [[item.name for item in items] for items in found] == [["Anna"], ["Anna"]]
