"""Fuzz of a running system over DDS: odd messages on every topic that a node hears, to every service and action.

What there is to be sent to is asked of the ROS graph. Left out are the services that rclpy itself answers (parameters,
life cycle) and what actions are made of inside.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from fuzz_examples import examples
from fuzzed_messages import Fuzz, class_of
from llm_planner_interfaces.msg import MotionPatch
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import Image, JointState

from llm_planner.errors import LlmPlannerError
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.message_checks import seconds, stamp
from llm_planner.ros.conversions.motion_messages import patch_from_msg
from llm_planner.ros.node_table import SENDERS

TO_ANYBODY = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RCLPYS_OWN = ("rcl_interfaces/", "lifecycle_msgs/", "type_description_interfaces/")
PAUSE = 0.015  # [s] between messages
SERVICES, GOALS, SOUND = 0.08, 0.05, 0.01  # shares of what is sent
REMEMBERED = 40  # messages that are told of where a node exits
MEET, SETTLE = 60.0, 2.0  # [s]
ASKED = 10.0  # [s] for the simulator to report


class Fuzzer:
    """Learns from a system at work what messages look like, then sends odd ones. `names` are its nodes."""

    def __init__(self, client: SystemClient, names: Iterable[str]) -> None:
        self._client, self._node = client, client.node
        self.sent: Counter[str] = Counter()
        self.newest: deque[str] = deque(maxlen=REMEMBERED)
        self._examples = examples()
        self._latest: dict[str, Any] = {}  # message by topic, of what the nodes themselves say
        self._time, self._at = 0.0, time.monotonic()  # the robot's, and when that was heard
        self._patches: dict[str, int] = {}  # epoch by source, of patches that may be in force
        names = set(names)
        client.wait_until(lambda: names <= {*self._node.get_node_names()}, MEET)
        client.spin_for(SETTLE)  # their topics and services become known a little later
        topics: dict[str, type] = {}
        said: dict[str, type] = {}
        services: dict[str, type] = {}
        actions: dict[str, type] = {}
        for name in sorted(names):
            self._collect(topics, self._node.get_subscriber_names_and_types_by_node(name, "/"))
            self._collect(said, self._node.get_publisher_names_and_types_by_node(name, "/"))
            self._collect(services, self._node.get_service_names_and_types_by_node(name, "/"))
            self._collect(actions, get_action_server_names_and_types_by_node(self._node, name, "/"))
        self._as = {  # what moves the robot is heard from nodes of these names only
            name: rclpy.create_node(
                name, context=self._node.context, enable_rosout=False, start_parameter_services=False
            )
            for (name,) in SENDERS.values()
        }
        self._publishers = {
            topic: (kind, self._sender(topic).create_publisher(kind, topic, TO_ANYBODY))
            for topic, kind in topics.items()
        }
        self._services = {name: (kind, self._node.create_client(kind, name)) for name, kind in services.items()}
        self._actions = {name: (kind, ActionClient(self._node, kind, name)) for name, kind in actions.items()}
        self._hearing = [
            self._node.create_subscription(kind, topic, partial(self._on_message, topic), qos_profile_sensor_data)
            for topic, kind in {**said, **topics}.items()
        ]
        # A camera hears nothing while nobody watches.
        images = [topic for topic, kind in said.items() if kind is Image]
        self._watching = [
            self._node.create_subscription(Image, topic, lambda picture: None, qos_profile_sensor_data)
            for topic in images
        ]

    def _sender(self, topic: str) -> Node:
        name, *_ = (*SENDERS.get(topic.rpartition("/")[2], ()), "")
        return self._as.get(name, self._node)

    @property
    def names(self) -> list[str]:
        """Everything that is sent to."""
        return sorted([*self._publishers, *self._services, *self._actions])

    @staticmethod
    def _collect(into: dict[str, type], found: Iterable[tuple[str, list[str]]]) -> None:
        for name, kinds in found:
            if "/_action/" not in name and not kinds[0].startswith(RCLPYS_OWN):
                into[name] = class_of(kinds[0])

    def _on_message(self, topic: str, message: Any) -> None:
        self._examples.add(message)
        self._latest[topic] = message
        if isinstance(message, JointState):
            self._time, self._at = seconds(message.header.stamp), time.monotonic()

    def learned(self) -> None:
        """From now on nothing is taken for what the nodes say."""
        for subscription in self._hearing:
            self._node.destroy_subscription(subscription)
        self._hearing.clear()

    def run(self, duration: float, rng: random.Random, still_well: Callable[[], bool] = lambda: True) -> None:
        """Send for so many wall seconds, or until something is not well any more."""
        fuzz = Fuzz(rng, self._examples, lambda: self._time + time.monotonic() - self._at)
        until = time.monotonic() + duration
        while time.monotonic() < until and still_well():
            chance = rng.random()
            if chance < SERVICES:
                self._call(rng, fuzz)
            elif chance < SERVICES + GOALS:
                self._send_goal(rng, fuzz)
            else:
                self._publish(rng, fuzz)
            self._client.spin_for(PAUSE)

    def _note(self, name: str, message: Any) -> None:
        self.sent[name] += 1
        self.newest.append(f"{name}: {message!s:.600}")

    def _publish(self, rng: random.Random, fuzz: Fuzz) -> None:
        topic = rng.choice(sorted(self._publishers))
        if topic.startswith("/audio") and rng.random() > SOUND * len(self._publishers):
            return  # hearing is slow, and would leave no time for the rest
        kind, publisher = self._publishers[topic]
        message = fuzz.message(kind)
        if isinstance(message, MotionPatch):
            self._remember(message)
        self._note(topic, message)
        publisher.publish(message)

    def _remember(self, message: MotionPatch) -> None:
        try:
            patch, _ = patch_from_msg(message)
        except LlmPlannerError:
            return
        self._patches[patch.source] = max(patch.epoch, self._patches.get(patch.source, 0))

    def _call(self, rng: random.Random, fuzz: Fuzz) -> None:
        name = rng.choice(sorted(self._services))
        kind, client = self._services[name]
        request = fuzz.message(kind.Request)
        self._note(name, request)
        answer = client.call_async(request)
        answer.add_done_callback(lambda done: client.remove_pending_request(done))

    def _send_goal(self, rng: random.Random, fuzz: Fuzz) -> None:
        name = rng.choice(sorted(self._actions))
        kind, client = self._actions[name]
        goal = fuzz.message(kind.Goal)
        self._note(name, goal)
        is_canceled = rng.random() < 0.3

        def on_answer(answer: Future) -> None:
            handle = answer.result()
            if handle.accepted and is_canceled:
                handle.cancel_goal_async()

        client.send_goal_async(goal).add_done_callback(on_answer)

    def take_back(self) -> None:
        """Withdraw every patch, and say again of each latched topic what the nodes said last: what was sent here were
        orders, too, and those that were well formed would hold."""
        now = self._time + time.monotonic() - self._at
        _, patches = self._publishers["/motion_patch"]
        for source, epoch in self._patches.items():
            nothing = MotionPatch(source=source, epoch=epoch, valid_for=2.0)
            nothing.speed = nothing.joint_share = nothing.clearance = math.nan
            nothing.header.stamp = stamp(now)
            patches.publish(nothing)
            self._client.spin_for(PAUSE)
        self._patches.clear()
        for topic in ("/motion_constraints", "/motion_tuning", "/diagnosis", "/motion_status"):
            kind, publisher = self._publishers[topic]
            publisher.publish(self._latest.get(topic, kind()))
        self._client.spin_for(0.5)

    def close(self) -> None:
        """Be heard of no more."""
        self.learned()
        for subscription in self._watching:
            self._node.destroy_subscription(subscription)
        for topic, (_, publisher) in self._publishers.items():
            self._sender(topic).destroy_publisher(publisher)
        for node in self._as.values():
            node.destroy_node()
        for _, client in self._services.values():
            self._node.destroy_client(client)
        for _, client in self._actions.values():
            client.destroy()


def worst_limit_share(client: SystemClient) -> float:
    """The largest share of a joint's limit of speed, acceleration or place that the arm has come to since it was
    started, as its simulator reports."""
    shares: list[float] = []

    def on_report(message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            told = [value for key, value in values.items() if key.startswith("largest_")]
            if status.name == "/simulator" and told:
                shares.append(max(map(float, told)))

    subscription = client.node.create_subscription(DiagnosticArray, "/diagnostics", on_report, 10)
    client.wait_until(lambda: len(shares) > 1, ASKED)
    client.node.destroy_subscription(subscription)
    return shares[-1]
