"""Transforms on `/tf` and `/tf_static`, as robot_state_publisher publishes them.

Frames have the names of links, after the namespace of their robot. What moves is computed and sent only while somebody
listens to `/tf`. `TransformTree` reads transforms: a small part of tf2, which PyPI lacks; `FrameFinder` feeds it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any

from llm_planner.errors import InputError
from llm_planner.robots.urdf import LinkFrame
from llm_planner.ros.base_node import LATCHED, SENSOR_DATA, BaseNode
from llm_planner.ros.conversions.geometry_messages import transform_to_msg, transforms_from_msg
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.message_types import optional_message
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose

MOVING, STATIC = "/tf", "/tf_static"
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


def prefixed(prefix: str, frames: Iterable[LinkFrame]) -> list[LinkFrame]:
    """Return the frames of a robot whose names begin with `prefix`."""
    return [LinkFrame(prefix + frame.parent, prefix + frame.child, frame.pose) for frame in frames]


def frame_prefix(node: BaseNode, robot: str = "") -> str:
    """Return the beginning of the names of frames: the node's namespace, and that of one `robot` of several."""
    return "".join(f"{part}/" for part in f"{node.get_namespace()}/{robot}".split("/") if part)


KEPT = 200  # transforms of a moving frame
TOLERANCE = 0.1  # [s] between a transform of a moving frame and the time for which it is used
DEEPEST = 100  # frames from a frame to the root of its tree
FRAMES_MAX = 1000


class TransformTree:
    """Frames, each with its parent; a transform of a moving frame is taken at the nearest time, not interpolated."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._fixed: dict[str, Pose] = {}  # T_parent_child
        self._moving: dict[str, deque[tuple[float, Pose]]] = {}  # time [s] and T_parent_child

    def add(self, parent: str, child: str, pose: Pose, time: float | None) -> None:
        """Take `pose`, T_parent_child, at `time` [s], None if it is fixed; raise InputError for too many frames."""
        if child not in self._parents and len(self._parents) >= FRAMES_MAX:
            raise InputError(f"the frame {child[:80]!a} is one more than the {FRAMES_MAX} that are kept")
        self._parents[child] = parent
        if time is None:
            self._fixed[child] = pose
            self._moving.pop(child, None)
        else:
            self._fixed.pop(child, None)
            self._moving.setdefault(child, deque(maxlen=KEPT)).append((time, pose))

    def find(self, target: str, frame: str, time: float) -> Pose:
        """Return T_target_frame at `time` [s]; raise InputError if the frames are not connected at that time."""
        (root, T_root_frame), (top, T_top_target) = self._from_root(frame, time), self._from_root(target, time)
        if root != top:
            raise InputError(
                f"no transform leads from {frame!r} to {target!r}: /tf and /tf_static join {frame!r} to {root!r}, and "
                f"{target!r} to {top!r}. Publish one, for instance with: ros2 run tf2_ros static_transform_publisher "
                f"--frame-id {target} --child-frame-id {frame} --x ... "
            )
        return compose(inverse(T_top_target), T_root_frame)

    def _from_root(self, frame: str, time: float) -> tuple[str, Pose]:
        """Return the root of a frame's tree and T_root_frame."""
        pose = Pose((0.0, 0.0, 0.0))
        for _ in range(DEEPEST):
            if frame not in self._parents:
                return frame, pose
            pose = compose(self._at(frame, time), pose)
            frame = self._parents[frame]
        raise InputError(f"the frame {frame!r} of /tf is below itself, or more than {DEEPEST} frames deep")

    def _at(self, frame: str, time: float) -> Pose:
        if frame in self._fixed:
            return self._fixed[frame]
        when, pose = min(self._moving[frame], key=lambda known: abs(known[0] - time))
        if abs(when - time) > TOLERANCE:
            raise InputError(
                f"the transform of {frame!r} is {abs(when - time):.2f} s away from the time {time:.2f} s, for which it "
                f"is wanted; at most {TOLERANCE} s are taken. Do the computers share a clock, and does /tf arrive?"
            )
        return pose


class FrameFinder:
    """Poses in `frame` of other frames, by `/tf` and `/tf_static`; of no others where tf2_msgs is not installed."""

    def __init__(self, node: BaseNode, frame: str, what: str) -> None:
        """Subscribe; `what`, such as "detections", names in messages what is given in those frames."""
        self._frame, self._what, self._tree = frame, what, None
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            node.get_logger().info(f"tf2_msgs is not installed: {what} must be in the frame {frame}")
            return
        self._tree = TransformTree()
        for topic, qos, fixed in ((MOVING, SENSOR_DATA, False), (STATIC, LATCHED, True)):
            heard = validated(node, partial(self._add, fixed=fixed), what="transforms cannot be used: ")
            node.create_subscription(TFMessage, topic, heard, qos)

    def find(self, frame: str, at: float) -> Pose:
        """Return T_frame of `frame` at a time [s]; raise InputError."""
        if frame == self._frame:
            return Pose((0.0, 0.0, 0.0))
        if self._tree is None:
            raise InputError(
                f"{self._what} are in the frame {frame!r}; without tf2_msgs they must be in {self._frame!r}: install "
                "ros-$ROS_DISTRO-tf2-msgs, or transform them before"
            )
        return self._tree.find(self._frame, frame, at)

    def _add(self, message: Any, fixed: bool) -> None:
        for transform in transforms_from_msg(message, fixed):
            self._tree.add(*transform)
