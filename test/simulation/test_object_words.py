import re

import pytest

from llm_planner.errors import InputError
from llm_planner.simulation.objects import COLORS, KINDS, ObjectSpec, object_kind, parse_objects


def test_colour_and_kind_are_read():
    assert parse_objects("red block, mug") == (ObjectSpec("red block", "block", "red"), ObjectSpec("mug", "mug", ""))


@pytest.mark.parametrize("text", ["  Grey   BLOCK ;", "gray block", "the gray block\n", "a grey block,"])
def test_case_spaces_articles_and_both_spellings_of_gray_are_tolerated(text: str):
    assert parse_objects(text) == (ObjectSpec("gray block", "block", "gray"),)


@pytest.mark.parametrize(
    "text",
    [
        '"red block, mug"',
        "'red block', 'mug'",
        "“red block”, “mug”",
        "a red block, and a mug",
        "the red block; one mug",
    ],
)
def test_quotes_and_articles_are_passed_over(text: str):
    assert [item.name for item in parse_objects(text)] == ["red block", "mug"]


def test_a_second_red_block_is_numbered():
    names = [item.name for item in parse_objects("red block, red block, red block 3, blue block")]
    assert names == ["red block", "red block 2", "red block 3", "blue block"]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("red block, red block 2, red block 22", "'red block 22' would be called 'red block 3'"),
        ("red block 2", "'red block 2' would be called 'red block'"),
        ("red block 1, red block 2", "'red block 1' would be called 'red block'"),
    ],
)
def test_a_number_that_does_not_follow_from_the_order_is_refused(text: str, refused: str):
    with pytest.raises(InputError, match=f"{refused}: .* numbered in their order; leave the number out"):
        parse_objects(text)


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_in_all_ten_colours(kind: str, color: str):
    assert parse_objects(f"{color} {kind}") == (ObjectSpec(f"{color} {kind}", kind, color),)


def test_there_are_ten_colours():
    assert len(COLORS) == 10


def test_an_unknown_kind_is_answered_with_the_kinds():
    with pytest.raises(InputError, match=r"no object kind 'banana'.*block, bowl, mug, vase, plate"):
        parse_objects("red banana")


def test_an_unknown_colour_is_answered_with_the_colours():
    with pytest.raises(InputError, match=r"no colour 'mauve'.*blue, red, green, orange"):
        parse_objects("mauve block")


@pytest.mark.parametrize("text", ["very big red block", "7", "the"])
def test_words_that_are_no_object_are_answered_with_an_example(text: str):
    with pytest.raises(InputError, match=f"cannot read the object '{re.escape(text)}'.*red block"):
        parse_objects(text)


@pytest.mark.parametrize("text", ["", " , ;", '""'])
def test_no_object_at_all_is_an_error(text: str):
    with pytest.raises(InputError, match="no object is named"):
        parse_objects(text)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_grasps_fit_between_the_fingers_and_lie_inside_the_object(kind):
    for grasp in kind.grasps:
        assert grasp.width <= 0.07
        assert all(abs(x) <= size / 2 for x, size in zip(grasp.point, kind.size, strict=True))


@pytest.mark.parametrize("scale", [0.39, 1.21, float("nan")])
def test_a_scale_that_no_thing_comes_in_is_refused(scale: float):
    with pytest.raises(InputError, match=f"scale of 'block' is {scale:g}; things come in 0.4 to 1.2 times"):
        ObjectSpec("block", "block", "", scale)


def test_a_mug_that_the_fingers_would_not_get_around_is_refused():
    assert ObjectSpec("mug", "mug", "", 1.08).shape.grasps[0].width < 0.074
    with pytest.raises(InputError, match=r"a mug may be scaled by 0.4 to 1.08, not by 1.1: larger, the fingers do not"):
        object_kind("mug", 1.1)
