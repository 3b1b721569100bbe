"""Transforms between frames, as tf2 defines them."""

from __future__ import annotations

import math

import pytest

from llm_planner.errors import InputError
from llm_planner.ros.transforms import TransformTree
from llm_planner.scene.scene import Pose

QUARTER = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))  # to the left, about z


@pytest.fixture
def tree() -> TransformTree:
    tree = TransformTree()
    tree.add("world", "base", Pose((1.0, 0.0, 0.0), QUARTER), None)
    tree.add("world", "mast", Pose((0.0, 2.0, 1.0)), None)
    tree.add("mast", "camera", Pose((0.0, 0.0, 0.5)), 10.0)
    return tree


def test_frames_are_joined_over_their_common_ancestor(tree):
    assert tree.find("world", "camera", 10.0).position == pytest.approx((0.0, 2.0, 1.5))
    assert tree.find("base", "camera", 10.0).position == pytest.approx((2.0, 1.0, 1.5))


def test_a_moving_frame_is_taken_at_the_nearest_time(tree):
    tree.add("mast", "camera", Pose((0.0, 0.0, 0.6)), 10.1)
    assert tree.find("mast", "camera", 10.02).position[2] == pytest.approx(0.5)
    assert tree.find("mast", "camera", 10.08).position[2] == pytest.approx(0.6)


def test_a_transform_of_another_time_is_refused(tree):
    with pytest.raises(InputError, match=r"is 1\.00 s away from the time 11\.00 s"):
        tree.find("base", "camera", 11.0)


def test_frames_that_nothing_joins_are_named(tree):
    tree.add("map", "person", Pose((0.0, 0.0, 0.0)), None)
    with pytest.raises(InputError, match=r"no transform leads from 'person' to 'base': .* 'person' to 'map'"):
        tree.find("base", "person", 10.0)


def test_a_loop_is_refused(tree):
    tree.add("camera", "world", Pose((0.0, 0.0, 0.0)), None)
    with pytest.raises(InputError, match="is below itself"):
        tree.find("base", "camera", 10.0)
