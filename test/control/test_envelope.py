"""The operator's envelope: read strictly, and no patch leads beyond it."""

from __future__ import annotations

import math
import re

import pytest

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope, EnvelopeFile, Ramps, envelope_of, read_envelope
from llm_planner.control.motion_constraints import Patch
from llm_planner.errors import InputError
from llm_planner.scene.zones import Shape, Subject
from llm_planner.share import share_folder
from llm_planner.strict_yaml import parse_file

ZONE = "{name: the table, shape: box, size: [1, 1, 0.1], position: [0, 0, -0.1]"


def read(text: str) -> Envelope:
    return parse_file(text, "lab.yaml", EnvelopeFile, envelope_of)


def test_the_shipped_envelope_is_read():
    envelope = read_envelope(share_folder("config") / "envelope.yaml")
    assert envelope.largest_speed == 1.5
    assert envelope.weights["position"] == (0.2, 5.0)


def test_what_is_left_out_leaves_the_robots_own_limits():
    envelope = read("acceleration: 0.5")
    assert envelope == Envelope(acceleration=0.5, weights={})
    assert math.isinf(FROM_THE_ROBOT.speed)


def test_zones_are_read_with_all_their_parts():
    turned = "orientation: [0, 0, 1, 0], clearance: 0.1, subject: gripper}"
    (zone,) = read(f"zones: [{ZONE}, {turned}]").zones
    assert (zone.shape, zone.size, zone.clearance, zone.subject) == (Shape.BOX, (1, 1, 0.1), 0.1, Subject.GRIPPER)
    assert zone.pose.orientation == (0, 0, 1, 0)
    (plain,) = read(f"zones: [{ZONE}}}]").zones
    assert (plain.clearance, plain.subject, plain.pose.orientation) == (0.0, Subject.ROBOT, (0, 0, 0, 1))


MISTAKES = [
    ("sped: 1", "lab.yaml, line 1: sped is unknown; the keys are: speed, joint_share, clearance"),
    ("speed: {default: 1}", "line 1: speed has no key 'largest'; it needs: default, largest"),
    ("speed: {default: 2, largest: 1}", "lab.yaml: the speed must be positive and at most the largest, 1 m/s, not 2"),
    ("joint_share: {default: 0.5, largest: 1.5}", "the joint_share must be positive and at most the largest, which"),
    ("clearance: {default: 0.01, least: 0.02}", "the clearance must lie between the least, 0.02 m, and 100 m, not 0"),
    ("acceleration: 1.5", "the share of the accelerations must lie in (0, 1], not 1.5"),
    ("weights: {positon: [0.5, 2]}", "weights.positon is unknown; the keys are: position, velocity"),
    (
        "weights: {position: [2, 3]}",
        "the factors of the weight 'position' must enclose 1 and lie between 0.2 and 5, bey",
    ),
    ("weights: {position: [0.2, 6]}", "beyond which the task outweighs speed limits; not [0.2, 6]"),
    ("weights: {position: [0.1, 5]}", "beyond which the task outweighs speed limits; not [0.1, 5]"),
    ("ramps: {speed_falls: 0}", "ramps.speed_falls must be greater than 0, not '0'"),
    (f"zones: [{ZONE.replace('box', 'cube')}}}]", "zones[1].shape is 'cube'; choose one of: sphere, capsule"),
    (
        f"zones: [{ZONE.replace('[1, 1, 0.1]', '[1]')}}}]",
        "lab.yaml, line 1: zones[1] is wrong: the zone 'the table' is a box, which has 3",
    ),
    (f"zones: [{ZONE}, clearance: -1}}]", "the clearance of 'the table' must lie between 0 and 100 m"),
    (f"zones: [{ZONE}}}, {ZONE}}}]", "zones[2] has the name 'the table', as another zone has; give each its own"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_place(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(text)


def test_an_unknown_weight_is_refused_whoever_writes_it():
    with pytest.raises(InputError, match="there is no weight 'beauty'; choose from: position"):
        Envelope(weights={"beauty": (0.5, 2.0)})


LAB = Envelope(
    speed=0.5, largest_speed=1.0, joint_share=0.5, largest_share=0.8, clearance=0.03, least_clearance=0.01,
    weights={"position": (0.5, 2.0)}, ramps=Ramps(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "told", "left"),
    [
        ({"speed": 1.1}, "1.1 m/s is more than the 1 m/s that the operator allows", {"speed": 1.0}),
        ({"joint_share": 0.9}, "a joint share of 0.9 is more than the operator's 0.8", {"joint_share": 0.8}),
        ({"clearance": 0.0}, "a clearance of 0 m is less than the operator's 0.01 m", {"clearance": 0.01}),
        (
            {"weights": {"velocity": 1.0, "position": 1.5}},
            "the weight 'velocity' may not be changed; the operator allows: position",
            {"weights": {"position": 1.5}},
        ),
        (
            {"weights": {"position": 3.0}},
            "the weight 'position' may be multiplied by 0.5 to 2, not 3",
            {"weights": {"position": 2.0}},
        ),
        (
            {"speed": 2.0, "joint_share": 0.1, "weights": {"position": 0.1}},
            "2 m/s is more than the 1 m/s that the operator allows; "
            "the weight 'position' may be multiplied by 0.5 to 2, not 0.1",
            {"speed": 1.0, "joint_share": 0.1, "weights": {"position": 0.5}},
        ),
    ],
)
def test_loosening_ends_at_the_envelope_and_is_told(wanted, told, left):
    assert LAB.clipped(Patch("the cook", 1.0, 2.0, **wanted)) == (Patch("the cook", 1.0, 2.0, **left), told)


@pytest.mark.parametrize(
    "wanted",
    [
        {"speed": 0.9, "joint_share": 0.8, "clearance": 0.01, "weights": {"position": 2.0}},
        {"speed": 0.01, "joint_share": 0.01, "clearance": 5.0},
    ],
)
def test_what_lies_within_the_envelope_stays_as_it_is(wanted):
    patch = Patch("the cook", 1.0, 2.0, **wanted)
    assert LAB.clipped(patch) == (patch, "")
