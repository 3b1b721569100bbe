"""Player of recordings: publishes what was recorded, for RViz, Foxglove and the console, and never commands a robot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import rclpy
import yaml
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from llm_planner.errors import InputError
from llm_planner.recording.reading import NANO, Heard
from llm_planner.recording.writing import Topic
from llm_planner.ros.message_definitions import message_type
from llm_planner.ros.node_table import CLIENT, GRAPH, SENDERS

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
