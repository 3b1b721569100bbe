"""The robot's pictures for the page, while a page asks for them: a camera draws only while somebody listens."""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sensor_msgs.msg import Image

from llm_planner.ros.base_node import NEWEST_ONLY
from llm_planner.ros.conversions.camera_messages import image_from_msg

if TYPE_CHECKING:
    from llm_planner.console.board import Board
    from llm_planner.ros.base_node import BaseNode

TOPIC = "camera/image_raw"
PICTURES = 10.0  # [s, wall time] that pictures go on after a page asked for them
PERIOD = 0.4  # [s, wall time] between two pictures


class CameraFeed:
    """Puts the newest picture on the board as `camera`, None while nobody wants it.

    `careful(topic, callback)` wraps a callback so that an unreadable message is logged.
    """

    def __init__(
        self, node: BaseNode, board: Board, careful: Callable[[str, Callable[[Any], None]], Callable[[Any], None]]
    ) -> None:
        self._node, self._board, self._careful = node, board, careful
        self._subscription: Any = None
        self._until = self._pictured = 0.0

    def want(self) -> None:
        """Subscribe, for `PICTURES` seconds from now."""
        self._until = time.monotonic() + PICTURES

    def look(self, now: float) -> None:
        """Begin or end the subscription; call a few times a second with the time `now` [s, monotonic]."""
        if now < self._until and self._subscription is None:
            heard = self._careful(TOPIC, self._on_picture)
            self._subscription = self._node.create_subscription(Image, TOPIC, heard, NEWEST_ONLY)
        elif now > self._until and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
            self._board.put("camera", None)

    def _on_picture(self, message: Image) -> None:
        if time.monotonic() - self._pictured < PERIOD:
            return
        self._pictured = time.monotonic()
        from PIL import Image as Picture

        file = io.BytesIO()
        Picture.fromarray(image_from_msg(message)).save(file, "JPEG", quality=70)
        self._board.put("camera", f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}")
