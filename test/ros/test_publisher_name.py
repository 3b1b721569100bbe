"""By what name the publisher of a message is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from llm_planner.ros.sender_identity import UNKNOWN_FOR, PublisherCheck, publisher_name


@dataclass(frozen=True)
class Publisher:
    node_name: str
    node_namespace: str
    endpoint_gid: bytes


@dataclass(frozen=True)
class Graph:
    """What a node knows of the publishers of any topic."""

    publishers: tuple[Publisher, ...]

    def get_publishers_info_by_topic(self, topic: str) -> tuple[Publisher, ...]:
        return self.publishers


def test_it_is_that_of_its_node_with_the_namespace():
    graph = Graph((Publisher("other", "/", b"1" * 24), Publisher("safety_filter", "/left", b"2" * 24)))
    assert publisher_name(graph, "joint_command", b"2" * 16) == "/left/safety_filter"


def test_a_publisher_is_not_known_before_its_node_is():
    graph = Graph((Publisher("_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_", b"1" * 24),))
    assert publisher_name(graph, "joint_command", b"1" * 16) == ""
    assert publisher_name(graph, "joint_command", b"") == ""


@dataclass
class Listener:
    """A node whose timers fire when a test says so."""

    publishers: tuple[Publisher, ...]
    timers: list[Callable[[], None]] = field(default_factory=list)

    def get_namespace(self) -> str:
        return "/"

    def get_publishers_info_by_topic(self, topic: str) -> tuple[Publisher, ...]:
        return self.publishers

    def create_timer(self, period: float, callback: Callable[[], None], clock: object) -> Callable[[], None]:
        assert period > UNKNOWN_FOR, "the publisher is looked up again then"
        self.timers.append(callback)
        return callback

    def destroy_timer(self, timer: Callable[[], None]) -> None:
        self.timers.remove(timer)


def test_the_newest_latched_message_of_a_publisher_that_is_known_later_is_taken_once():
    node, taken = Listener((Publisher("_NODE_NAME_UNKNOWN_", "", b"1" * 24),)), []
    check = PublisherCheck(node, "plan_status", ["plan_executor"])
    info = {"publisher_gid": b"1" * 16}
    assert not check.passes(info, lambda: taken.append("first"))
    assert not check.passes(info, lambda: taken.append("second"))
    (timer,) = node.timers
    timer()
    assert (taken, node.timers) == (["second"], [])


def test_a_message_of_another_node_is_not_taken_later():
    node = Listener((Publisher("shell", "", b"1" * 24),))
    node.get_logger = lambda: type("Log", (), {"warning": lambda *_, **__: None})()
    assert not PublisherCheck(node, "plan_status", ["plan_executor"]).passes({"publisher_gid": b"1" * 16}, list)
    assert node.timers == []
