"""By what name the publisher of a message is known."""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.ros.sender_identity import publisher_name


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
