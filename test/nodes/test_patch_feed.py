"""Patches from the network, offered to the board once the robot's time is known; the node is a fake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from llm_planner_interfaces.msg import MotionPatch

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope
from llm_planner.control.patches import Patch
from llm_planner.control.zones import Shape, Zone
from llm_planner.errors import InputError
from llm_planner.nodes.motion_messages import patch_to_msg
from llm_planner.nodes.patch_feed import PatchFeed, envelope_of
from llm_planner.world.scene import Pose

BALL = Zone("the ball", Shape.SPHERE, (0.1,), Pose((0.5, 0.0, 0.2)))


@dataclass
class FakeNode:
    """Keeps the callback, the warnings and a file's name."""

    envelope: str = ""
    heard: list[str] = field(default_factory=list)
    callback: Callable[[MotionPatch], None] = lambda message: None

    def setting(self, name: str) -> str:
        assert name == "envelope"
        return self.envelope

    def create_subscription(self, kind, topic, callback, qos) -> None:
        assert (kind, topic) == (MotionPatch, "motion_patch")
        self.callback = callback

    def get_logger(self) -> FakeNode:
        return self

    def warning(self, text: str, throttle_duration_sec: float) -> None:
        self.heard.append(text)


def feed(node: FakeNode, envelope: Envelope = FROM_THE_ROBOT) -> PatchFeed:
    return PatchFeed(node, envelope, "panda_link0", lambda constraints: True)


def test_a_patch_that_came_before_the_first_state_waits_for_it():
    node = FakeNode()
    patches = feed(node)
    node.callback(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2)))
    assert patches.board.sources == ()
    assert patches.at(10.1).speed == 0.2
    assert patches.board.sources == ("a rule",)


def test_what_is_refused_is_told_with_the_reason():
    node = FakeNode()
    patches = feed(node, Envelope(speed=0.5, largest_speed=1.0))
    patches.at(10.0)
    node.callback(patch_to_msg(Patch("a guest", 10.0, 20.0, zones=(BALL,)), frame="map"))
    node.callback(MotionPatch(source="a guest"))
    assert [reason.split(": ", 1)[0] for reason in patches.refused] == ["a guest"] * 2
    assert "in the frame 'map'; those of this robot are in 'panda_link0'" in patches.refused[0]
    assert "must expire after its stamp" in patches.refused[1]
    assert node.heard[0].startswith("a patch of 'a guest' is refused: its zones are in the frame 'map'")
    assert patches.at(10.1).speed == 0.5


def test_what_would_loosen_too_much_is_told_once_and_the_rest_is_in_force():
    node = FakeNode()
    patches = feed(node, Envelope(speed=0.5, largest_speed=1.0))
    patches.at(10.0)
    for stamp in (10.0, 10.4):
        node.callback(patch_to_msg(Patch("a rule", stamp, 20.0, speed=2.0, zones=(BALL,))))
    assert list(patches.refused) == ["a rule: 2 m/s is more than the 1 m/s that the operator allows"]
    assert node.heard[0].startswith("a patch of 'a rule' is not heeded in all: 2 m/s is more")
    assert [zone.name for zone in patches.at(10.5).zones] == ["the ball"]


def test_patches_that_were_over_before_the_node_began_are_not_worth_a_word():
    node = FakeNode()
    patches = feed(node)
    node.callback(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2)))
    patches.at(47.0)
    node.callback(patch_to_msg(Patch("another", 12.0, 22.0, speed=0.2)))
    assert (list(patches.refused), node.heard) == ([], [])
    patches.at(49.0)
    node.callback(patch_to_msg(Patch("a late one", 46.0, 48.0, speed=0.2)))
    assert list(patches.refused) == ["a late one: it expired 1.00 s ago"]


def test_a_restarted_node_hears_in_what_topics_keep_that_a_patch_was_withdrawn():
    node = FakeNode()
    patches = feed(node)
    node.callback(patch_to_msg(Patch("a rule", 10.0, 1000.0, speed=0.2)))
    node.callback(patch_to_msg(Patch("a rule", 12.0, 16.0)))
    patches.at(47.0)
    assert patches.board.sources == ()


def test_when_the_clock_leaps_patches_keep_their_time():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    node.callback(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2)))
    patches.at(12.0)
    patches.started_over(1.0)
    assert patches.at(5.9).speed == 0.2
    assert patches.at(8.9).speed == 0.2
    assert patches.at(1000.0).speed == 0.2  # ahead by more than states are ever apart
    assert patches.at(1000.2).speed > 0.2  # and now its time is over


def test_the_envelope_is_that_of_the_parameter(tmp_path: Path):
    assert envelope_of(FakeNode()) is FROM_THE_ROBOT
    file = tmp_path / "envelope.yaml"
    file.write_text("acceleration: 0.3", encoding="utf-8")
    assert envelope_of(FakeNode(str(file))).acceleration == 0.3
    with pytest.raises(InputError, match="nowhere cannot be read"):
        envelope_of(FakeNode("nowhere"))
