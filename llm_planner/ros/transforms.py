"""Transforms on `/tf` and `/tf_static`, and `robot_description`, as robot_state_publisher publishes them.

Frames have the names of links, after the namespace of their robot. What moves is computed and sent only while somebody
listens to `/tf`.
"""

from __future__ import annotations

from collections.abc import Iterable

from std_msgs.msg import String

from llm_planner.robots.link_frames import LinkFrame
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.conversions.message_conversions import transform_to_msg
from llm_planner.ros.optional_packages import optional_message

MOVING, STATIC, DESCRIPTION = "/tf", "/tf_static", "robot_description"
DEPTH = 10  # of /tf: less than a quarter of a second


class TransformBroadcaster:
    """Publisher of transforms; it does nothing where tf2_msgs is not installed."""

    def __init__(self, node: BaseNode, moves: bool = True) -> None:
        """Create the publishers; only one for static transforms unless something `moves`."""
        self._frames: dict[str, LinkFrame] = {}  # static ones, by child
        self._moving = self._static = None
        self._kind = optional_message(node, "tf2_msgs", "TFMessage")
        if self._kind is not None:
            self._static = node.create_publisher(self._kind, STATIC, LATCHED)
            self._moving = node.create_lifecycle_publisher(self._kind, MOVING, DEPTH) if moves else None

    @property
    def has_listeners(self) -> bool:
        """Whether somebody listens to the transforms that move."""
        return self._moving is not None and self._moving.get_subscription_count() > 0

    def send(self, time: float, frames: Iterable[LinkFrame]) -> None:
        """Publish transforms that hold at `time` [s]."""
        if self._moving is not None:
            self._moving.publish(self._message(time, frames))

    def send_static(self, time: float, frames: Iterable[LinkFrame]) -> None:
        """Publish transforms that hold from now on, together with those sent before."""
        self._frames |= {frame.child: frame for frame in frames}
        if self._static is not None:
            self._static.publish(self._message(time, self._frames.values()))

    def _message(self, time: float, frames: Iterable[LinkFrame]) -> object:
        return self._kind(
            transforms=[transform_to_msg(time, frame.child, frame.pose, frame.parent) for frame in frames]
        )


def describe(node: BaseNode, prefix: str, urdf: str) -> None:
    """Publish the text `urdf`, latched, on a topic whose name begins with `prefix`."""
    node.create_publisher(String, prefix + DESCRIPTION, LATCHED).publish(String(data=urdf))


def prefixed(prefix: str, frames: Iterable[LinkFrame]) -> list[LinkFrame]:
    """Return the frames of a robot whose names begin with `prefix`."""
    return [LinkFrame(prefix + frame.parent, prefix + frame.child, frame.pose) for frame in frames]


def frame_prefix(node: BaseNode, robot: str = "") -> str:
    """Return the beginning of the names of frames: the node's namespace, and that of one `robot` of several."""
    return "".join(f"{part}/" for part in f"{node.get_namespace()}/{robot}".split("/") if part)
