"""Operations held against each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, Move, Rebind, Remove, Replace, Shift
from llm_planner.corrections.preferences.learning import contrary, decides, same_amount, same_operations, together
from llm_planner.language.correction_requests import Frame


def speed(change, value):
    return Adjust("speed", change, value)


def shift(*offset, frame=Frame.OBJECT):
    return Shift(offset, frame)


@pytest.mark.parametrize(
    ("before", "after", "both"),
    [
        (speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.25)),
        (speed(Change.SCALE, 0.5), speed(Change.SCALE, 2.0), None),
        (speed(Change.SET, 0.6), speed(Change.SCALE, 0.5), speed(Change.SET, 0.3)),
        (speed(Change.SCALE, 0.5), speed(Change.SET, 0.3), speed(Change.SET, 0.3)),
        (speed(Change.SCALE, 0.5), speed(Change.SET, 1.0), None),
        (speed(Change.SHIFT, 0.05), speed(Change.SHIFT, -0.025), speed(Change.SHIFT, 0.025)),
        (speed(Change.SHIFT, 0.05), speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.5)),
        (shift(0.0, 0.04, 0.0), shift(0.0, -0.02, 0.0), shift(0.0, 0.02, 0.0)),
        (shift(0.0, 0.04, 0.0), shift(0.0, -0.04, 0.0), None),
        (shift(0.0, 0.04, 0.0), shift(0.02, 0.0, 0.0, frame=Frame.ROBOT), shift(0.02, 0.0, 0.0, frame=Frame.ROBOT)),
        (Rebind("this", "object", "plate"), Rebind("this", "object", "bowl"), Rebind("this", "object", "bowl")),
    ],
)
def test_what_two_amount_to(before, after, both):
    assert together(before, after) == both


CONTRARY = [
    (speed(Change.SCALE, 0.5), speed(Change.SCALE, 2.0)),
    (speed(Change.SET, 0.5), speed(Change.SCALE, 1.5)),
    (speed(Change.SHIFT, 0.1), speed(Change.SHIFT, -0.1)),
    (shift(0.0, 0.04, 0.0), shift(0.0, -0.02, 0.01)),
    (Rebind("this", "object", "plate"), Rebind("this", "object", "bowl")),
    (Replace("this", "place_in", {}), Replace("this", "place_on", {})),
    (Move(("this",)), Move(("this",), "first")),
    (Remove("this"), Insert("press", {})),
]
COMPATIBLE = [
    (speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.75)),
    (speed(Change.SCALE, 0.5), speed(Change.SCALE, 1.0)),
    (shift(0.0, 0.04, 0.0), shift(0.0, 0.01, 0.0)),
    (Rebind("this", "object", "plate"), Rebind("this", "object", "plate")),
    (AddRule("G(a)", "a"), AddRule("G(a)", "a")),
    (Adjust("distance", Change.SET, 0.1, "this"), Adjust("distance", Change.SET, 0.2, "this")),
]


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_contraries_cannot_both_be_meant(one, other):
    assert contrary(one, other)
    assert contrary(other, one)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_amounts_that_differ_are_not_contrary(one, other):
    assert not contrary(one, other)


def test_the_same_is_said_where_amounts_differ_by_a_quarter_at_most():
    assert same_amount(speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.6))
    assert not same_amount(speed(Change.SCALE, 0.5), speed(Change.SCALE, 0.7))
    assert not same_amount(speed(Change.SCALE, 0.5), speed(Change.SET, 0.5))
    assert same_amount(shift(0.0, 0.04, 0.0), shift(0.0, 0.032, 0.0))
    assert not same_amount(shift(0.0, 0.04, 0.0), shift(0.0, -0.04, 0.0))
    assert same_amount(AddRule("G(a)", "always a"), AddRule("G(a)", "a, always"))
    assert not same_operations([Remove("this")], [Remove("this"), Remove("this")])


def test_what_is_decided_is_told_apart():
    assert decides(speed(Change.SCALE, 0.5)) == decides(speed(Change.SET, 1.0))
    assert decides(speed(Change.SCALE, 0.5)) != decides(Adjust("height", Change.SCALE, 0.5))
    assert decides(Insert("press", {"object": "a"})) != decides(Insert("press", {"object": "b"}))
    assert decides(AddRule("a", "")) != decides(AddRule("b", ""))


@given(st.lists(st.floats(0.3, 3.0).filter(lambda value: abs(value - 1) > 0.1), min_size=2, max_size=4))
def test_scales_amount_to_their_product_in_any_number(values):
    product, left = 1.0, None
    for value in values:
        product *= value
        left = together(left, speed(Change.SCALE, value)) if left else speed(Change.SCALE, value)
        product = product if left else 1.0
    assert left is None or left.value == pytest.approx(product, abs=2e-3)
