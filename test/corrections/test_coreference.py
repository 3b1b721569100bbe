"""What pronouns stand for: what the words name besides them, what is held, or what is under way."""

from __future__ import annotations

import pytest

from llm_planner.corrections.coreference import with_names
from llm_planner.language.correction_requests import Intent, Request


@pytest.mark.parametrize("said", ["it", "this one", "that block"])
def test_it_is_what_is_held_or_else_what_is_under_way(at_table, said) -> None:
    slower = Request(Intent.SPEED, thing=said)
    assert with_names(slower, f"slower with {said}", at_table(2, "red block")).thing == "the red block"
    assert with_names(slower, f"slower with {said}", at_table(1)).thing == "the red block"


def test_it_is_the_one_other_thing_that_is_named_but_not_where_it_goes(at_table) -> None:
    def thing(words: str, held: str) -> str:
        return with_names(Request(Intent.SPEED, thing="it"), words, at_table(2, held)).thing

    assert thing("mind the vase, go slow with it", "") == "the vase"
    assert thing("mind the vase, go slow with it", "red block") == "the red block"
    assert thing("go slow with it until you are at the green bowl", "red block") == "the red block"
    put = Request(Intent.OTHER_TARGET, thing="it", target="blue bowl", relation="in")
    assert with_names(put, "put it in the blue bowl", at_table(2, "red block")).thing == "the red block"


def test_another_thing_that_is_pointed_at_is_left_open(at_table) -> None:
    request = Request(Intent.OTHER_THING, thing="that one")
    assert with_names(request, "take that one", at_table(1)) == request


def test_a_person_is_the_one_that_is_followed(in_house) -> None:
    request = Request(Intent.DURATION, target="her")
    assert with_names(request, "follow her for two minutes", in_house(6)).target == "Anna"
    rule = Request(Intent.RULE, text="give them 1 meter")
    assert with_names(rule, "there are people about, give them 1 meter", in_house(6)).text == "give Anna 1 meter"


@pytest.mark.parametrize(
    ("said", "words", "target", "text"),
    [
        ("put it beside the vase", "I was wrong with the blue block, put it beside the vase", "",
         "put the blue block beside the vase"),
        ("take it out again", "the blue block has to go, take it out again after the mug", "mug",
         "take the blue block out again"),
        ("put it beside the vase", "the mug and the blue block, put it beside the vase", "",
         "put it beside the vase"),
        ("throw the blue block in the same bowl", "throw the blue block in the same bowl", "",
         "throw the blue block in the green bowl"),
        ("put the vase there", "put the vase there after the yellow one", "yellow one",
         "put the vase at the left side"),
        ("drop the blue block in there along with it", "drop the blue block in there along with it", "",
         "drop the blue block in the green bowl"),
        ("pop the blue block in with it", "when that's in, pop the blue block in with it", "",
         "pop the blue block in the green bowl"),
        ("put the vase inside the same bowl", "put the vase inside the same bowl", "",
         "put the vase in the green bowl"),
        ("set the vase down in front of it", "once the yellow one's in place, set the vase down in front of it",
         "yellow one", "set the vase down in front of the yellow block"),
        ("put the vase behind it", "put the vase behind it", "", "put the vase behind the red block"),
        ("take the vase and put it on the plate", "take the vase and put it on the plate", "",
         "take the vase and put it on the plate"),
        ("put the vase where it was", "put the vase where it was", "", "put the vase where it was"),
        ("fetch it out", "I don't like the vase there. When the mug's down, fetch it out, then do the yellow", "",
         "fetch the vase out"),
        ("lift it a second time", "when you have lifted the vase, lift it a second time", "vase", "lift the vase"),
        ("wait a minute after that", "wait a minute after that", "", "wait a minute after that"),
        ("see if there's a lid", "see if there's a lid", "", "see if there's a lid"),
    ],
)  # fmt: skip
def test_an_added_command_stands_by_itself(at_table, said, words, target, text) -> None:
    assert with_names(Request(Intent.ADD, text=said, target=target), words, at_table(2, "red block")).text == text


def test_there_is_the_room_where_the_named_errand_ends(in_house) -> None:
    request = Request(Intent.ADD, text="take the blue parcel over there", target="mug")
    found = with_names(request, "after the mug take the blue parcel over there", in_house(1))
    assert found.text == "take the blue parcel to the office"


def test_with_it_in_a_rule_is_with_what_is_held(in_house) -> None:
    rule = Request(Intent.RULE, text="don't cut through the hall with it")
    assert with_names(rule, rule.text, in_house(3, "mug")).text == "don't cut through the hall with the mug"


def test_a_tower_is_what_the_plan_stacks(table_with) -> None:
    red, blue, mug, plate = ({"object": name} for name in ("red block", "blue block", "mug", "plate"))
    tower = [("pick", red), ("place_at", {"place": "middle"}), ("pick", blue), ("place_on", red)]
    steps = [*tower, ("pick", mug), ("place_on", plate)]
    there = Request(Intent.OTHER_TARGET, thing="whole tower", target="left side", relation="at")
    assert with_names(there, "", table_with(steps, 1)).thing == "red block"
    add = Request(Intent.ADD, text="put the yellow block on top of the tower")
    assert with_names(add, add.text, table_with(steps, 1)).text == "put the yellow block on top of the blue block"
    assert with_names(add, add.text, table_with(steps[4:], 1)) == add


def test_the_same_way_is_as_what_is_under_way(pushing) -> None:
    def added(text: str) -> Request:
        return with_names(Request(Intent.ADD, text=text), text, pushing)

    assert added("push the vase over the same way") == Request(Intent.AGAIN, thing="vase")
    assert added("push the vase the same distance to the left").intent is Intent.ADD
