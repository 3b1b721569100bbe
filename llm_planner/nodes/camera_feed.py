"""The newest picture of a camera, for skills that ask for one; subscribed to while they do."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.subscription import Subscription
from sensor_msgs.msg import Image

from llm_planner.errors import InputError
from llm_planner.nodes.message_conversions import image_from_msg
from llm_planner.nodes.shell import NEWEST_ONLY, ShellNode
from llm_planner.nodes.stamps import seconds
from llm_planner.skills.camera import NO_PICTURE, Picture
from llm_planner.skills.contract import Observation

FRESH = 0.4  # [s] of the robot's time that a picture may be old
IDLE = 10.0  # wall seconds without a question after which nobody listens any more


class CameraFeed:
    """Pictures of `camera/image_raw`; drawing them costs the camera nothing until a skill first asks."""

    def __init__(self, node: ShellNode, clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._clock = node, clock
        self._subscription: Subscription | None = None
        self._message: Image | None = None
        self._asked = 0.0
        node.every(IDLE / 2, self._on_idle)

    def __call__(self, observation: Observation) -> Picture:
        """The newest picture; none before the first has come, or where that is too old."""
        self._asked = self._clock()
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                Image, "camera/image_raw", self._on_picture, NEWEST_ONLY
            )
        message = self._message
        if message is None:
            return NO_PICTURE
        try:
            is_fresh = seconds(message.header.stamp, "camera/image_raw.header.stamp") >= observation.time - FRESH
            return image_from_msg(message) if is_fresh else NO_PICTURE
        except InputError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)
            return NO_PICTURE

    def _on_picture(self, message: Image) -> None:
        self._message = message

    def _on_idle(self) -> None:
        if self._subscription is not None and self._clock() - self._asked > IDLE:
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._message = None
