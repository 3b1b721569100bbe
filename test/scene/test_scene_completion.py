"""A thing that cannot be read stays where it was, and what is held is in the hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.geometry import UNKNOWN_SIZE, completed
from llm_planner.scene.scene import Pose, Scene, SceneObject

MUG = SceneObject("mug", "mug", "", (0.5, 0.1, 0.04), (0.0, 0.0, 0.0, 1.0), (0.08, 0.08, 0.09))
VASE = SceneObject("vase", "vase", "", (0.4, -0.2, 0.1), (0.0, 0.0, 0.0, 1.0), (0.1, 0.1, 0.2))
HAND = Pose((0.5, 0.1, 0.1))
TURNED = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))  # a quarter turn to the left
BEFORE = Scene(1.0, (MUG, VASE), robot=HAND)


def test_a_complete_scene_stays_as_it_is() -> None:
    assert completed(BEFORE, (), None) is BEFORE


def test_a_thing_that_cannot_be_read_stays_where_it_was() -> None:
    assert completed(Scene(2.0, (MUG,)), ("vase",), BEFORE).objects == (MUG, VASE)


def test_a_thing_that_cannot_be_read_and_was_never_seen_is_left_out() -> None:
    assert completed(Scene(2.0, (MUG,)), ("vase",), None).objects == (MUG,)


def test_a_thing_that_is_no_longer_listed_is_gone() -> None:
    assert completed(Scene(2.0, (MUG,)), (), BEFORE).objects == (MUG,)


def test_what_is_held_goes_with_the_hand_as_it_did_before() -> None:
    before = replace(BEFORE, held="mug")
    lifted = completed(Scene(2.0, (VASE,), "mug", Pose((0.3, 0.0, 0.5), TURNED)), ("mug",), before).find("mug")
    assert lifted.position == pytest.approx((0.3, 0.0, 0.44))
    assert lifted.orientation == pytest.approx(TURNED)
    assert lifted.size == MUG.size


def test_what_was_just_taken_and_is_not_listed_is_in_the_middle_of_the_hand() -> None:
    taken = completed(Scene(2.0, (VASE,), "mug", Pose((0.3, 0.0, 0.5))), (), BEFORE).find("mug")
    assert (taken.position, taken.size) == ((0.3, 0.0, 0.5), MUG.size)


def test_what_is_held_and_was_never_seen_is_as_large_as_may_be() -> None:
    ghost = completed(Scene(2.0, (), "grey ghost", HAND), (), None).find("grey ghost")
    assert (ghost.kind, ghost.position, ghost.size) == ("ghost", HAND.position, UNKNOWN_SIZE)


def test_what_is_held_nobody_knows_where_is_refused() -> None:
    with pytest.raises(InputError, match=r"held is 'ghost', which is not among the objects \(mug, vase\)"):
        completed(Scene(2.0, (MUG, VASE), "ghost"), (), None)
