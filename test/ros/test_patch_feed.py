"""Patches from the network, offered to the arbiter once the robot's time is known; the node is a fake."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from llm_planner_interfaces.msg import MotionPatch

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope
from llm_planner.control.motion_constraints import Patch
from llm_planner.errors import InputError
from llm_planner.ros.conversions.motion_messages import patch_to_msg
from llm_planner.ros.patch_feed import A_TICK, AT_ONCE, MOST_WAITING, PatchFeed, envelope_of
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PRESENT = 1_800_000_000_000_000_000  # [ns since 1970]
BALL = Zone("the ball", Shape.SPHERE, (0.1,), Pose((0.5, 0.0, 0.2)))


@dataclass
class FakeNode:
    """Keeps the callback, the warnings, a file's name, and what waits in the topic."""

    envelope: str = ""
    heard: list[str] = field(default_factory=list)
    callback: Callable[[MotionPatch, dict], None] = lambda message, info: None
    waiting: deque[tuple[MotionPatch, dict]] = field(default_factory=deque)

    def setting(self, name: str) -> str:
        assert name == "envelope"
        return self.envelope

    def create_subscription(self, kind, topic, callback, qos) -> FakeNode:
        assert (kind, topic) == (MotionPatch, "motion_patch")
        self.callback = callback
        return self

    def take(self, topic: FakeNode, most: int) -> list[tuple[MotionPatch, dict]]:
        return [self.waiting.popleft() for _ in range(min(most, len(self.waiting)))]

    def hears(self, message: MotionPatch, publisher: int = 1, number: int | None = None) -> None:
        gid = {"implementation_identifier": "fake", "data": bytes([publisher])}
        self.callback(message, {"publisher_gid": gid, "publication_sequence_number": number})

    def get_logger(self) -> FakeNode:
        return self

    def warning(self, text: str) -> None:
        self.heard.append(text)


def feed(node: FakeNode, envelope: Envelope = FROM_THE_ROBOT) -> PatchFeed:
    return PatchFeed(node, envelope, "panda_link0", lambda constraints: True, wall=lambda: PRESENT, waiting=node.take)


def test_a_patch_that_came_before_the_first_state_waits_for_it():
    node = FakeNode()
    patches = feed(node)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"))
    assert patches.arbiter.sources == ()
    assert patches.at(10.1).speed == 0.2
    assert patches.arbiter.sources == ("a rule",)


def test_what_is_refused_is_told_with_the_reason():
    node = FakeNode()
    patches = feed(node, Envelope(speed=0.5, largest_speed=1.0))
    patches.at(10.0)
    node.hears(patch_to_msg(Patch("a guest", 10.0, 20.0, zones=(BALL,)), frame="map"))
    node.hears(MotionPatch(source="another"))
    patches.at(10.0)
    assert sorted(reason.split(": ", 1)[0] for reason in patches.refused) == ["a guest", "another"]
    assert "must expire after its stamp" in patches.refused[0]
    assert "in the frame 'map'; those of this robot are in 'panda_link0'" in patches.refused[1]
    (logged,) = node.heard  # the other within the same second
    assert logged.startswith("a patch of 'another' is refused: the patch of 'another' must expire after its stamp")
    assert patches.at(10.1).speed == 0.5


def test_what_would_loosen_too_much_is_told_once_and_the_rest_is_in_force():
    node = FakeNode()
    patches = feed(node, Envelope(speed=0.5, largest_speed=1.0))
    patches.at(10.0)
    for stamp in (10.0, 10.4):
        node.hears(patch_to_msg(Patch("a rule", stamp, 20.0, speed=2.0, zones=(BALL,)), "panda_link0"))
        patches.at(stamp)
    assert list(patches.refused) == ["a rule: 2 m/s is more than the 1 m/s that the operator allows"]
    assert node.heard[0].startswith("a patch of 'a rule' is not heeded in all: 2 m/s is more")
    assert [zone.name for zone in patches.at(10.5).zones] == ["the ball"]


def test_patches_that_were_over_before_the_node_began_are_not_worth_a_word():
    node = FakeNode()
    patches = feed(node)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"))
    patches.at(47.0)
    node.hears(patch_to_msg(Patch("another", 12.0, 22.0, speed=0.2), "panda_link0"))
    patches.at(47.1)
    assert (list(patches.refused), node.heard) == ([], [])
    patches.at(49.0)
    node.hears(patch_to_msg(Patch("a late one", 46.0, 48.0, speed=0.2), "panda_link0"))
    patches.at(49.0)
    assert list(patches.refused) == ["a late one: it expired 1.00 s ago"]


def test_a_restarted_node_hears_in_what_topics_keep_that_a_patch_was_withdrawn():
    node = FakeNode()
    patches = feed(node)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 1000.0, speed=0.2), "panda_link0"))
    node.hears(patch_to_msg(Patch("a rule", 12.0, 16.0), "panda_link0"))
    patches.at(47.0)
    assert patches.arbiter.sources == ()


def test_when_the_clock_leaps_patches_keep_their_time():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"))
    patches.at(12.0)
    patches.started_over(1.0)
    assert patches.at(5.9).speed == 0.2
    assert patches.at(8.9).speed == 0.2
    assert patches.at(1000.0).speed == 0.2  # ahead by more than states are ever apart
    assert patches.at(1000.2).speed > 0.2  # and now its time is over


# Floods


def test_however_many_patches_wait_each_tick_offers_a_bounded_number_and_each_publisher_has_its_turn():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    for k in range(500):
        node.hears(patch_to_msg(Patch(f"flood {k}", 10.0, 20.0, speed=0.4), "panda_link0"), publisher=1)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.1), "panda_link0"), publisher=2)
    patches.at(10.01)
    assert "a rule" in patches.arbiter.sources
    assert patches.accepted == A_TICK
    for k in range(20):
        patches.at(10.02 + 0.01 * k)
    assert dict(patches.counts) == {
        "patches_heard": 501,
        "patches_accepted": 501,
        "patches_superseded": 0,
        "patches_refused": 0,
        "patches_waiting": 0,
        "patches_missed": 0,
    }


def test_a_callback_takes_what_waits_in_the_topic_and_leaves_the_rest_for_its_next_turn():
    node = FakeNode()
    patches = feed(node)
    for k in range(2 * AT_ONCE):
        node.waiting.append((patch_to_msg(Patch(f"flood {k}", 10.0, 20.0, speed=0.4), "panda_link0"), {}))
    node.hears(patch_to_msg(Patch("the first", 10.0, 20.0, speed=0.4), "panda_link0"))
    assert patches.heard == AT_ONCE


def test_of_one_source_the_newest_counts_and_the_others_are_superseded():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    for k in range(100):
        node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, epoch=PRESENT + k, speed=0.9 - 0.001 * k), "panda_link0"))
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, epoch=PRESENT, speed=5.0), "panda_link0"))
    patches.at(10.01, moving=0.0)
    assert patches.at(20.0 - 5.0).speed == pytest.approx(0.801)
    assert (patches.heard, patches.accepted, patches.superseded) == (101, 1, 100)


def test_a_newer_patch_that_cannot_be_read_in_all_its_parts_does_not_supersede_the_rest():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"))
    wrong = patch_to_msg(Patch("a rule", 10.1, 20.1, joint_share=0.5), "panda_link0")
    wrong.speed = -1.0
    node.hears(wrong)
    constraints = patches.at(10.01, moving=0.0)
    assert constraints.speed == 0.2
    assert patches.at(12.0).joint_share == 0.5
    assert (patches.accepted, len(patches.refused)) == (2, 1)


def test_the_same_source_of_two_publishers_is_withdrawn_by_each_for_itself():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"), publisher=1)
    node.hears(patch_to_msg(Patch("a rule", 10.1, 20.0), "panda_link0"), publisher=2)
    assert patches.at(10.2, moving=0.0).speed == 0.2
    node.hears(patch_to_msg(Patch("a rule", 10.2, 20.0), "panda_link0"), publisher=1)
    patches.at(10.3)
    assert patches.arbiter.sources == ()


def test_an_epoch_far_ahead_of_the_clock_is_refused_and_shuts_nobody_out():
    node = FakeNode()
    patches = feed(node)
    patches.at(10.0)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, epoch=2**64 - 1), "panda_link0"))
    assert patches.refused[0].startswith("a rule: its epoch 18446744073709551615 lies 1.66e+10 s ahead of the clock")
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, epoch=PRESENT, speed=0.2), "panda_link0"))
    assert patches.at(10.1, moving=0.0).speed == 0.2


def test_patches_that_never_came_are_counted_by_their_numbers_and_told():
    node = FakeNode()
    patches = feed(node)
    for number in (7, 8, 12, 12, 13):
        node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.2), "panda_link0"), number=number)
    node.hears(patch_to_msg(Patch("another", 10.0, 20.0, speed=0.2), "panda_link0"), publisher=2, number=90)
    assert patches.missed == 3
    assert list(patches.refused) == ["a rule: 3 patches of its publisher came faster than they could be taken"]


def test_more_sources_than_may_wait_are_refused_and_those_of_others_wait():
    node = FakeNode()
    patches = feed(node)
    for k in range(MOST_WAITING + 100):
        node.hears(patch_to_msg(Patch(f"flood {k}", 10.0, 20.0, speed=0.4), "panda_link0"), publisher=1)
    node.hears(patch_to_msg(Patch("a rule", 10.0, 20.0, speed=0.1), "panda_link0"), publisher=2)
    assert (patches.heard, patches.turned_down) == (MOST_WAITING + 101, 100)
    assert "patches of 1000 other sources of its publisher wait already" in patches.refused[-1]
    assert patches.at(10.0, moving=0.0).speed == 0.1


def test_the_envelope_is_that_of_the_parameter(tmp_path: Path):
    assert envelope_of(FakeNode()) is FROM_THE_ROBOT
    file = tmp_path / "envelope.yaml"
    file.write_text("acceleration: 0.3", encoding="utf-8")
    assert envelope_of(FakeNode(str(file))).acceleration == 0.3
    with pytest.raises(InputError, match="nowhere cannot be read"):
        envelope_of(FakeNode("nowhere"))
