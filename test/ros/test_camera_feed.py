"""The camera's pictures, for skills: nobody listens until one is asked for, and no old one is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from sensor_msgs.msg import Image

from llm_planner.robots.motion import Observation
from llm_planner.ros.conversions.camera_messages import image_to_msg
from llm_planner.ros.scene_feed import FRESH, CameraFeed
from llm_planner.scene.scene import Pose, Scene

PICTURE = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)


@dataclass
class Node:
    """What the feed needs of one."""

    heard: list[Callable[[Image], None]] = field(default_factory=list)
    timers: list[Callable[[], None]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def create_subscription(self, kind, topic, callback, quality) -> Callable[[Image], None]:
        assert (kind, topic) == (Image, "camera/image_raw")
        self.heard.append(callback)
        return callback

    def destroy_subscription(self, subscription) -> None:
        self.heard.remove(subscription)

    def every(self, period, callback) -> None:
        self.timers.append(callback)

    def get_logger(self) -> Node:
        return self

    def error(self, message, throttle_duration_sec) -> None:
        self.errors.append(message)


def at(time: float) -> Observation:
    return Observation(time, Scene(time, ()), (0.0,) * 7, Pose((0.4, 0.0, 0.3)), 0.08)


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def feed(node, clock) -> CameraFeed:
    return CameraFeed(node, lambda: clock[0])


def test_nobody_listens_until_a_picture_is_asked_for(node, feed):
    assert node.heard == []
    assert feed(at(1.0)).size == 0
    assert len(node.heard) == 1
    node.heard[0](image_to_msg(PICTURE, 1.0, "camera"))
    assert (feed(at(1.0)) == PICTURE).all()
    assert len(node.heard) == 1


def test_an_old_picture_is_none(node, feed):
    feed(at(1.0))
    node.heard[0](image_to_msg(PICTURE, 1.0, "camera"))
    assert feed(at(1.0 + FRESH - 0.01)).size
    assert not feed(at(1.0 + FRESH + 0.01)).size


def test_nobody_listens_any_more_after_a_while(node, feed, clock):
    feed(at(1.0))
    clock[0] = 9.0
    node.timers[0]()
    assert len(node.heard) == 1
    clock[0] = 11.0
    node.timers[0]()
    assert node.heard == []
    feed(at(2.0))
    assert len(node.heard) == 1


def test_what_is_no_picture_is_told_and_not_given(node, feed):
    feed(at(1.0))
    message = image_to_msg(PICTURE, 1.0, "camera")
    message.encoding = "mono16"
    node.heard[0](message)
    assert not feed(at(1.0)).size
    assert "36 bytes, 'mono16', 4 x 3 in rows of 12, cannot be read; it must be rgb8" in node.errors[0]
