"""Offsets in the frames of things."""

from math import cos, isclose, pi, sin

from hypothesis import given
from hypothesis import strategies as st

from llm_planner.corrections.edits import Shift
from llm_planner.corrections.preferences.retrieval import heading, in_frame_of, in_frame_of_robot
from llm_planner.language.correction_requests import Frame
from llm_planner.scene.scene import SceneObject

AMOUNTS = st.floats(-0.2, 0.2)


def turned(angle, size=(0.12, 0.04, 0.04), kind="box"):
    return SceneObject(kind, kind, "", (0.4, 0.0, 0.02), (0.0, 0.0, sin(angle / 2), cos(angle / 2)), size)


@given(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS), st.floats(-pi, pi))
def test_into_the_frame_of_a_thing_and_back_is_where_it_was(offset, angle):
    there = in_frame_of_robot(in_frame_of(turned(angle), offset), turned(angle))
    assert all(isclose(a, b, abs_tol=3e-4) for a, b in zip(there.offset, offset, strict=True))
    assert there.frame is Frame.ROBOT


def test_a_shift_turns_with_its_thing():
    kept = in_frame_of(turned(0.0), (0.0, 0.02, 0.01))
    assert kept.frame is Frame.OBJECT
    assert in_frame_of_robot(kept, turned(pi / 2)).offset == (-0.02, 0.0, 0.01)


def test_without_a_thing_it_stays_as_it_is():
    assert in_frame_of_robot(in_frame_of(None, (0.0, 0.02, 0.0)), turned(1.0)) == Shift((0.0, 0.02, 0.0), Frame.ROBOT)


def test_round_things_are_never_turned_and_square_ones_by_an_eighth_at_most():
    assert heading(turned(1.0, kind="bowl")) == 0.0
    assert isclose(heading(turned(pi / 2 + 0.2, (0.04, 0.04, 0.04))), 0.2)
    assert isclose(heading(turned(pi / 2 + 0.2)), pi / 2 + 0.2)
