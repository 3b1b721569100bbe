"""Patches hold only numbers that a motion can keep."""

from __future__ import annotations

import math

import pytest

from llm_planner.control.motion_constraints import Patch
from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

VASE = Zone("the vase", Shape.CYLINDER, (0.05, 0.1), Pose((0.5, 0.0, 0.1)), 0.06)


def test_a_patch_that_says_nothing_withdraws():
    assert Patch("the cook", 1.0, 2.0).says_nothing
    assert not Patch("the cook", 1.0, 2.0, zones=(VASE,)).says_nothing
    assert not Patch("the cook", 1.0, 2.0, clearance=0.0).says_nothing


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"source": " "}, "needs a source"),
        ({"expires": 1.0}, "must expire after its stamp"),
        ({"expires": math.inf}, "must expire after its stamp"),
        ({"stamp": math.nan}, "must expire after its stamp"),
        ({"epoch": -1}, "an epoch of 0 or more, not -1"),
        ({"speed": 0.0}, "needs a positive speed in m/s"),
        ({"speed": math.inf}, "needs a positive speed in m/s"),
        ({"joint_share": 1.01}, r"needs a joint_share in \(0, 1\], not 1.01"),
        ({"clearance": -0.01}, "needs a clearance between 0 and 100 m"),
        ({"clearance": math.nan}, "needs a clearance between 0 and 100 m"),
        ({"zones": (VASE,) * 33}, "at most 32 zones and 16 weights, not 33 and 0"),
        ({"weights": {"position": 0.0}}, "a positive factor for the weight 'position', not 0.0"),
    ],
)
def test_what_nothing_can_keep_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Patch(**{"source": "the cook", "stamp": 1.0, "expires": 2.0} | wrong)
