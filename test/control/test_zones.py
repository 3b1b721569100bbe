"""Zones and motion constraints: only those that mean something exist."""

from __future__ import annotations

import math

import pytest

from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

HERE = Pose((0.5, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("shape", "size"),
    [(Shape.SPHERE, (0.1,)), (Shape.CAPSULE, (0.1, 0.2)), (Shape.CYLINDER, (0.1, 0.2)), (Shape.BOX, (0.1, 0.2, 0.3))],
)
def test_each_shape_has_its_own_number_of_sizes(shape, size):
    assert Zone("vase", shape, size, HERE).size == size
    with pytest.raises(InputError, match=f"'vase' is a {shape.value}, which has {len(size)} half sizes"):
        Zone("vase", shape, (*size, 0.1), HERE)


@pytest.mark.parametrize("size", [0.0, -0.1, math.nan, math.inf, 1000.0])
def test_a_size_that_no_solid_has_is_refused(size):
    with pytest.raises(InputError, match="half sizes between 0 and 100 m"):
        Zone("vase", Shape.SPHERE, (size,), HERE)


@pytest.mark.parametrize("clearance", [-0.01, math.nan, 1000.0])
def test_a_clearance_that_cannot_be_kept_is_refused(clearance):
    with pytest.raises(InputError, match="clearance of 'vase' must lie between 0 and 100 m"):
        Zone("vase", Shape.SPHERE, (0.1,), HERE, clearance)


@pytest.mark.parametrize(
    "pose", [Pose((math.nan, 0.0, 0.0), HERE.orientation), Pose(HERE.position, (0.0, 0.0, 0.0, 2.0))]
)
def test_a_pose_that_is_none_is_refused(pose):
    with pytest.raises(InputError, match="pose of the zone 'vase' is not a finite position and rotation"):
        Zone("vase", Shape.SPHERE, (0.1,), pose)


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan])
def test_a_speed_limit_is_positive(speed):
    with pytest.raises(InputError, match="speed limit must be positive"):
        MotionConstraints(speed=speed)


@pytest.mark.parametrize("share", [0.0, 1.5, math.nan])
def test_the_share_of_the_joint_speeds_is_a_share(share):
    with pytest.raises(InputError, match=r"joint_share must lie in \(0, 1\]"):
        MotionConstraints(joint_share=share)


def test_nothing_asked_for_is_free():
    assert FREE.speed == math.inf
    assert FREE.zones == ()
