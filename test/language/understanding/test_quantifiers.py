"""How many things are meant: all that is in a place to be cleared, a number of towers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.language.understanding.quantifiers import cleared, piles
from llm_planner.language.understanding.wording import numbers
from llm_planner.scene.places import BEHIND, viewpoint
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject


def thing(name: str, x: float, y: float, size: tuple[float, float, float] = (0.04, 0.04, 0.04)) -> SceneObject:
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, size[2] / 2), IDENTITY, size)


BOWL = thing("green bowl", 0.35, -0.3, (0.128, 0.128, 0.045))
SCENE = Scene(0.0, (thing("red block", 0.5, 0.3), thing("blue block", 0.4, 0.35), thing("mug", 0.5, 0.0), BOWL))


@pytest.mark.parametrize(
    ("words", "place", "things"),
    [
        ("clear the left side", "left side", ("red block", "blue block")),
        ("tidy up the left-hand side of the table", "left side", ("red block", "blue block")),
        ("put the mug in the bowl and clear the left side, bar the red block", "left side", ("blue block",)),
        ("please clear the whole table", "table", ("red block", "blue block", "mug", "green bowl")),
    ],
)
def test_all_that_is_in_a_place_to_be_cleared_is_meant(words: str, place: str, things: tuple[str, ...]) -> None:
    assert [*cleared(words, SCENE, BEHIND)] == [(place, things)]


def test_a_place_is_that_of_the_speaker() -> None:
    assert [*cleared("clear the right side", SCENE, viewpoint("facing"))] == [
        ("right side", ("red block", "blue block"))
    ]


def test_what_is_in_a_thing_to_be_emptied_is_meant() -> None:
    inside = replace(thing("red block", 0.35, -0.3), position=(0.35, -0.3, 0.03))
    assert [*cleared("empty the green bowl", replace(SCENE, objects=(inside, BOWL)), BEHIND)] == [
        ("green bowl", ("red block",))
    ]


@pytest.mark.parametrize(
    "words",
    [
        "clear the mug off the left side",
        "stay clear of the green bowl",
        "it's an empty mug",
        "put everything on the left side",
        "wipe the table",
    ],
)
def test_other_words_clear_no_place(words: str) -> None:
    assert not [things for _, things in cleared(words, SCENE, BEHIND) if things]


def test_a_number_of_towers_is_found() -> None:
    assert [*piles("build two towers of two blocks each", SCENE)] == [(2, "towers")]
    assert not [*piles("build a tower of two blocks", SCENE)]


@pytest.mark.parametrize("words", ["make a tower of three", "a row of three please", "stack three blocks"])
def test_a_number_of_an_arrangement_counts_things(words: str) -> None:
    (number,) = numbers(words, SCENE)
    assert (number.values, number.dimension) == ((3.0,), "things")
