"""What words say of numbers, order, denials and directions, and what they leave open."""

from __future__ import annotations

import pytest

from llm_planner.language.understanding.quantifiers import every_of, singles
from llm_planner.language.understanding.wording import (
    denied,
    exchanged,
    is_known_language,
    limits_duration,
    numbers,
    roles,
    sign,
)
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject


def thing(name: str) -> SceneObject:
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))


SCENE = Scene(0.0, tuple(map(thing, ("red block", "blue block", "red bowl", "plate", "vase"))))


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("push it 5 cm", [0.05]),
        ("pousse-le de 5 cm", [0.05]),
        ("move it half a foot to the left", [0.1524]),
        ("one and a half minutes", [90.0]),
        ("push the red block", []),
    ],
)
def test_numbers_are_read_with_their_units(words: str, values: list[float]) -> None:
    found = numbers(words, SCENE)
    assert len(found) == len(values)
    assert all(number.is_among([value]) for number, value in zip(found, values, strict=True))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("tidy up, but do not touch the vase or the plate", {"vase", "plate"}),
        ("take the blue block, not the red one", {"red block", "red bowl"}),
        ("put the blocks that are not red in the red bowl", {"red block"}),
        ("do not put the vase on the plate before I say so", set()),
        ("do not forget the vase", set()),
        ("I don't want the vase there, put it on the plate", set()),
        ("lege es nicht neben die Vase", set()),
    ],
)
def test_what_is_named_only_to_be_left_out_is_denied(words: str, names: set[str]) -> None:
    assert denied(words, SCENE) == names


def test_all_of_a_kind_are_meant_unless_something_narrows_it() -> None:
    assert every_of("put all blocks on the plate", SCENE) == ("red block", "blue block")
    assert every_of("put all blocks left of the vase on the plate", SCENE) == ()


@pytest.mark.parametrize(
    ("words", "quantity", "expected"),
    [
        ("faster", "speed", 1), ("not so fast", "speed", -1), ("langsamer", "speed", -1), ("too slow", "speed", 1),
        ("to the left", "left", 1), ("from left to right", "left", 0), ("at least 10 cm", "bound", 1),
    ],
)  # fmt: skip
def test_more_and_less(words: str, quantity: str, expected: int) -> None:
    assert sign(words, quantity) == expected


def test_neighbouring_names_belong_together() -> None:
    words = "the red block in the red bowl and the blue block on the plate"
    right = [("red block", "red bowl"), ("blue block", "plate")]
    wrong = [("red block", "plate"), ("blue block", "red bowl")]
    assert (exchanged(right, words, SCENE), exchanged(wrong, words, SCENE)) == ((), tuple(wrong))


def test_prepositions_tell_where_things_are_put_to() -> None:
    assert roles("put the vase on the plate", SCENE) == ({"vase"}, {"plate"})


def test_how_many_of_a_kind_the_singular_means() -> None:
    assert singles("put the left block on the plate", SCENE)["block"] == 1
    assert singles("put each block on the plate", SCENE) == {}


def test_short_english_is_known_and_other_languages_are_not() -> None:
    assert is_known_language("vase on plate pls", SCENE)
    assert not is_known_language("lege den red block in die red bowl", SCENE)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("never be in the lab for longer than 10 seconds", True),
        ("hold the mug no longer than a minute", True),
        ("be in the lab for at most 5 s", True),
        ("take no longer than 20 seconds to bring the mug", False),
        ("stay in the lab for 10 seconds", False),
        ("never enter the lab", False),
        ("put the mug on the plate at no more than 0.15 m/s", False),
        ("never move at more than 10 cm per second", False),
    ],
)
def test_a_limit_of_duration_is_recognised(text, limits):
    assert limits_duration(text) is limits
