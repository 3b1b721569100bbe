"""Zones, patches and constraints come through their messages unchanged."""

from __future__ import annotations

import math

import pytest
from llm_planner_interfaces.msg import MotionPatch, MotionStatus

from llm_planner.control.ladder import Rung, Standing
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.patches import Patch
from llm_planner.control.zones import Shape, Subject, Zone
from llm_planner.errors import InputError
from llm_planner.nodes.motion_messages import (
    constraints_from_msg,
    constraints_to_msg,
    patch_from_msg,
    patch_to_msg,
    standing_from_msg,
    standing_to_msg,
    zone_from_msg,
    zone_to_msg,
)
from llm_planner.world.scene import Pose

TURNED = Pose((0.5, -0.1, 0.2), (0.0, 0.0, 0.6, 0.8))
ZONES = (
    Zone("ball", Shape.SPHERE, (0.1,), TURNED),
    Zone("pole", Shape.CAPSULE, (0.02, 0.3), TURNED, 0.05, Subject.GRIPPER),
    Zone("vase", Shape.CYLINDER, (0.05, 0.1), TURNED, 0.06),
    Zone("box", Shape.BOX, (0.1, 0.2, 0.3), TURNED, 0.01),
)


@pytest.mark.parametrize("zone", ZONES, ids=lambda zone: zone.shape.value)
def test_a_zone_comes_through(zone):
    assert zone_from_msg(zone_to_msg(zone)) == zone


@pytest.mark.parametrize("field", ["shape", "subject"])
def test_a_zone_of_an_unknown_kind_is_refused(field):
    message = zone_to_msg(ZONES[0])
    setattr(message, field, 9)
    with pytest.raises(InputError, match=r"'ball' has the shape \d and the subject \d; the highest are 3 and 1"):
        zone_from_msg(message)


@pytest.mark.parametrize(
    "patch",
    [
        Patch("a rule", 1.0, 2.5, 7, 0.2, 0.5, 0.03, ZONES, {"position": 2.0, "velocity": 0.5}),
        Patch("a rule", 1.0, 2.5),
    ],
    ids=["everything", "nothing"],
)
def test_a_patch_comes_through(patch):
    assert patch_from_msg(patch_to_msg(patch)) == patch


def test_weights_without_factors_are_refused():
    with pytest.raises(InputError, match="names 1 weights and gives 0 factors"):
        patch_from_msg(MotionPatch(source="a rule", valid_for=1.0, weights=["position"]))


@pytest.mark.parametrize("constraints", [FREE, MotionConstraints(0.2, 0.5, ZONES, 9, {"position": 2.0})])
def test_constraints_come_through(constraints):
    assert constraints_from_msg(constraints_to_msg(constraints, 3.0)) == constraints


def test_without_a_limit_the_message_says_infinite():
    assert constraints_to_msg(FREE, 3.0).speed == math.inf


@pytest.mark.parametrize("rung", Rung)
def test_where_the_controller_stands_comes_through(rung):
    standing = Standing(rung, "no motion was found", 2**60)
    assert standing_from_msg(standing_to_msg(standing, 3.0, 9)) == standing


def test_an_unknown_state_of_the_controller_is_refused():
    with pytest.raises(InputError, match="motion_status has the state 77; the highest is 5"):
        standing_from_msg(MotionStatus(state=77))
