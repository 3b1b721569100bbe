"""Zones, patches and constraints come through their messages unchanged."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from llm_planner_interfaces.msg import MotionPatch, MotionStatus

from llm_planner.control.envelope import STANDSTILL
from llm_planner.control.fallback_supervisor import FallbackLevel, SupervisorStatus
from llm_planner.control.motion_constraints import ALL_READ, FREE, MOST_ZONES, MotionConstraints, Patch
from llm_planner.errors import InputError
from llm_planner.ros.conversions.motion_messages import (
    constraints_to_msg,
    patch_from_msg,
    patch_to_msg,
    supervisor_status_to_msg,
    zone_from_msg,
    zone_to_msg,
    zones_from_msg,
)
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

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
    assert patch_from_msg(patch_to_msg(patch, "panda_link0")) == (patch, ALL_READ)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"source": " "}, "needs a source"),
        ({"source": "x" * 1001}, "a source of at most 1000 letters, not 'xxxx"),
        ({"valid_for": 0.0}, "must expire after its stamp"),
        ({"valid_for": math.nan}, "must expire after its stamp"),
    ],
)
def test_a_patch_of_nobody_and_of_no_time_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        patch_from_msg(MotionPatch(**{"source": "a rule", "valid_for": 1.0} | wrong))


@pytest.mark.parametrize(
    ("wrong", "lost", "words"),
    [
        ({"speed": -1.0}, {"speed": None}, "needs a positive speed in m/s"),
        ({"joint_share": 7.0}, {"joint_share": None}, r"needs a joint_share in \(0, 1\], not 7.0"),
        ({"clearance": math.inf}, {"clearance": None}, "needs a clearance between 0 and 100 m"),
        ({"factors": [2.0, -1.0]}, {"weights": {"position": 2.0}}, "a positive factor for the weight 'velocity'"),
        ({"factors": [2.0]}, {"weights": {}}, "names 2 weights and gives 1 factors"),
    ],
)
def test_the_rest_of_a_patch_is_kept_where_a_part_is_wrong(wrong, lost, words):
    right = Patch("a rule", 1.0, 2.5, 7, 0.2, 0.5, 0.03, ZONES, {"position": 2.0, "velocity": 0.5})
    message = patch_to_msg(right, "panda_link0")
    for name, value in wrong.items():
        setattr(message, name, value)
    patch, unread = patch_from_msg(message)
    assert patch == replace(right, **lost)
    assert unread.limits == {name for name in wrong if name != "factors"}
    (told,) = unread.told
    assert re.search(words, told)


def test_the_other_zones_of_a_patch_are_kept_where_one_is_wrong():
    message = patch_to_msg(Patch("a rule", 1.0, 2.5, zones=ZONES), "panda_link0")
    message.zones[1].size = [0.0]
    patch, unread = patch_from_msg(message)
    assert [zone.name for zone in patch.zones] == ["ball", "vase", "box"]
    assert unread.zones == {"pole"}
    assert unread.told[0].startswith("the zone 'pole' is a capsule, which has 2 half sizes")


def test_the_limits_of_a_patch_are_kept_where_its_zones_are_in_another_frame():
    message = patch_to_msg(Patch("a rule", 1.0, 2.5, speed=0.2, zones=ZONES), frame="map")
    patch, unread = patch_from_msg(message, "panda_link0")
    assert (patch.speed, patch.zones, unread.zones) == (0.2, (), {zone.name for zone in ZONES})
    assert unread.told == ("its zones are in the frame 'map'; those of this robot are in 'panda_link0'",)


def test_more_zones_than_a_patch_may_have_bring_the_robot_to_a_stand():
    message = patch_to_msg(Patch("a rule", 1.0, 2.5, zones=ZONES), "panda_link0")
    message.zones = [zone_to_msg(ZONES[0])] * (MOST_ZONES + 1)
    patch, unread = patch_from_msg(message)
    assert (len(patch.zones), patch.speed, patch.joint_share) == (MOST_ZONES, STANDSTILL, STANDSTILL)
    assert unread.told == ("it has 33 zones; 32 is the most: the robot comes to a stand instead",)


def test_without_a_limit_the_message_says_infinite():
    assert constraints_to_msg(FREE, 3.0, "panda_link0").speed == math.inf


def test_the_constraints_in_force_are_published_with_their_version_and_sources():
    message = constraints_to_msg(
        MotionConstraints(0.2, 0.5, ZONES, 9, {"position": 2.0}), 3.0, "panda_link0", ("a rule",)
    )
    assert (message.speed, message.joint_share, message.version, message.sources) == (0.2, 0.5, 9, ["a rule"])
    assert zones_from_msg(message.zones) == ZONES
    assert (message.weights, list(message.factors)) == (["position"], [2.0])


def test_where_the_controller_stands_is_published_with_its_reason():
    standing = SupervisorStatus(FallbackLevel.BRAKING, "no motion was found", 2**60)
    message = supervisor_status_to_msg(standing, 3.0, 9, "panda_link0")
    assert (message.state, message.reason) == (MotionStatus.BRAKING, "no motion was found")
    assert (message.epoch, message.version) == (2**60, 9)
