"""What the embedded model is told of the scene."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.language.embedded.reader import MOST_NAMES, Situation, plain, situation_of
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Room, Scene


@pytest.mark.parametrize(
    ("situation", "words", "line"),
    [
        (Situation(), "go home", "table"),
        (Situation(("red block", "mug")), "pick up the blocks", "table; things: red block"),
        (Situation(("red block", "mug")), "go home", "table"),
        (Situation(("mug",), ("kitchen", "hall")), "to the kitchen", "building; rooms: kitchen"),
        (Situation(held="mug", step="pick mug"), "stop that", "table; held: mug; now: pick mug"),
        (Situation(propositions=("p", "q")), "never p", "letters: p, q"),
    ],
)
def test_only_names_that_the_words_may_speak_of_are_told(situation: Situation, words: str, line: str) -> None:
    assert situation.line(words) == line


def test_names_that_are_told_are_few() -> None:
    blocks = Situation(tuple(f"block {n}" for n in range(20)))
    assert blocks.line("the blocks").count("block") == MOST_NAMES


def test_a_scene_is_told_by_its_names_in_lower_case(table: Scene) -> None:
    building = Building((Room("Server Room", Rectangle(0, 1, 0, 1)),), ())
    told = situation_of(replace(table, held="mug", building=building), "go_to Server Room")
    assert told.things[0] == "red block"
    assert (told.rooms, told.held, told.step) == (("server room",), "mug", "go_to server room")


@pytest.mark.parametrize(
    ("said", "shown"),
    [("  Put it\n DOWN ", "put it down"), ('the "big" one', "the big one"), ("don’t", "don't"), ("", "")],
)
def test_words_are_shown_plainly(said: str, shown: str) -> None:
    assert plain(said) == shown
