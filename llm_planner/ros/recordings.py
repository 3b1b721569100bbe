"""Recorded messages: published again for RViz, Foxglove and the console, or read as frames of the recorded arm.

A player never commands a robot.
"""

from __future__ import annotations

import io
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import rclpy
import yaml
from numpy.typing import NDArray
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.recording.reading import NANO, Heard, Recording
from llm_planner.recording.writing import Topic
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.ros.conversions.robot_messages import joint_state_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.message_types import message_type
from llm_planner.ros.node_table import CLIENT, GRAPH, SENDERS
from llm_planner.ros.parameters import MOBILE, ROBOT
from llm_planner.scene.scene import Scene

CLOCK, CLOCK_PERIOD = "/clock", 0.01  # [s] between messages of a clock that was not recorded
DISCOVERY = 1.0  # [s] for listeners to find the topics
DEPTH = 100
# What moves a robot, or is taken for a person's words.
COMMANDS = (
    frozenset({*SENDERS, "gripper_command", "motion_patch", "motion_tuning", "language_command", "stop"})
    - {"plan_status"}
    | GRAPH[CLIENT].publishes
    | GRAPH["console"].publishes
)


def is_played(topic: str) -> bool:
    """Return whether a recorded topic is published again; one that commands a robot never is."""
    return topic.rpartition("/")[2] not in COMMANDS


class Player:
    """Publishes recorded messages at the pace at which they came.

    Args:
        rate: Seconds of the recording a second.
        domain_id: ROS domain; None for that of the environment.
    """

    def __init__(self, rate: float = 1.0, domain_id: int | None = None) -> None:
        self._rate = rate
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node("player", context=self._context)
        self._publishers: dict[str, Publisher | None] = {}
        self._has_clock = False

    def announce(self, topics: Iterable[Topic]) -> None:
        """Create the publishers, and wait until listeners can have found them."""
        topics = list(topics)
        self._has_clock = any(topic.name == CLOCK for topic in topics)
        if not self._has_clock:
            self._clock = self._node.create_publisher(Clock, CLOCK, QoSProfile(depth=DEPTH))
        for topic in topics:
            self._publisher(topic)
        time.sleep(DISCOVERY)

    def play(self, messages: Iterable[Heard], on_message: Callable[[Heard], None]) -> int:
        """Publish the messages in time, and return how many; `on_message` is called before each, and may pause."""
        began, first, ticked, count = 0.0, 0.0, 0.0, 0
        for heard in messages:
            if not first:
                began, first = time.monotonic(), heard.time
            before = time.monotonic()
            on_message(heard)
            began += time.monotonic() - before  # a pause is not caught up with
            pause = began + (heard.time - first) / self._rate - time.monotonic()
            if pause > 0.0:
                time.sleep(pause)
            if not self._has_clock and heard.time >= ticked + CLOCK_PERIOD:
                ticked = heard.time
                self._tick(heard)
            publisher = self._publisher(heard.topic)
            if publisher is not None:
                publisher.publish(heard.sample.data)
                count += 1
        return count

    def close(self) -> None:
        """Leave the network."""
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _tick(self, heard: Heard) -> None:
        """Publish the time of reception, which is that of the stamps beside a real robot."""
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(heard.sample.received, round(1 / NANO))
        self._clock.publish(message)

    def _publisher(self, topic: Topic) -> Publisher | None:
        """Return the topic's publisher, with the recorded quality of service; None for what is not played."""
        if topic.name not in self._publishers:
            self._publishers[topic.name] = self._made(topic)
        return self._publishers[topic.name]

    def _made(self, topic: Topic) -> Publisher | None:
        if not is_played(topic.name):
            return None
        try:
            kind = message_type(topic.type)
        except InputError as error:
            self._node.get_logger().warning(f"{topic.name} is not played: {error}")
            return None
        return self._node.create_publisher(kind, topic.name, _qos(topic))


def _qos(topic: Topic) -> QoSProfile:
    offered = (yaml.safe_load(topic.qos) or [{}])[0] if topic.qos else {}
    is_best_effort = offered.get("reliability") == "best_effort"
    return QoSProfile(
        depth=max(int(offered.get("depth", DEPTH)), DEPTH),
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.is_latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.BEST_EFFORT if is_best_effort else ReliabilityPolicy.RELIABLE,
    )


TOPICS = ("joint_states", "scene", "compressed")


@dataclass(frozen=True)
class RecordedFrame:
    """State of a recorded arm.

    Attributes:
        time: Time of reception [s since the epoch].
        stamp: Robot's time [s].
        qpos: Joint positions (nq,) [rad].
        width: Width between the fingers [m].
        scene: Newest scene at this time.
        picture: Newest picture at this time (height, width, 3), None without a camera.
    """

    time: float
    stamp: float
    qpos: tuple[float, ...]
    width: float
    scene: Scene
    picture: NDArray[np.uint8] | None = None


def recorded_arm(recording: Recording) -> ArmModel:
    """Return the arm that was moved; raise InputError for a mobile base."""
    name = recording.about.get("robot", ROBOT.default)
    if name == MOBILE:
        raise InputError(
            f"{recording.name} is of a mobile base, which has no joints to convert; choose a run of an arm"
        )
    return arm_model(str(name))


def recorded_frames(recording: Recording) -> list[RecordedFrame]:
    """Return a frame for each recorded joint state from the first scene on."""
    arm = recorded_arm(recording)
    scenes, scene, picture = SceneReader(lambda flaw: None, arm.name), None, None
    frames: list[RecordedFrame] = []
    for heard in recording.messages(TOPICS):
        name = heard.topic.name.rpartition("/")[2]
        try:
            if name == "scene":
                scene = scenes.read(_message(heard))
            elif name == "compressed":
                picture = _picture(bytes(_message(heard).data))
            elif scene is not None:
                message = _message(heard)
                state, width = joint_state_from_msg(message, arm.joints, arm.fingers)
                stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
                frames.append(RecordedFrame(heard.time, stamp, tuple(state.qpos.tolist()), width, scene, picture))
        except LlmPlannerError:  # an unusable message, which the nodes did not use either
            continue
    return frames


def at_rate(frames: Sequence[RecordedFrame], fps: float) -> list[RecordedFrame]:
    """Return the newest frame at each multiple of 1 / fps of the robot's time, from the first to the last."""
    if not frames:
        return []
    stamps = [frame.stamp for frame in frames]
    count = int((stamps[-1] - stamps[0]) * fps + 1e-6) + 1
    return [frames[bisect_right(stamps, stamps[0] + number / fps + 1e-6) - 1] for number in range(count)]


def _message(heard: Heard):
    return deserialize_message(heard.sample.data, message_type(heard.topic.type))


def _picture(data: bytes) -> NDArray[np.uint8]:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
