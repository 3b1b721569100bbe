"""Check of who publishes: nodes take what moves the robot only from the node that `node_table.SENDERS` names.

A command, a motion reference or a lease from elsewhere, such as the shell, would move the robot without plan, rules and
privileges. Names of nodes are no secrets: on a network that is not your own, SROS 2 enforces the same table.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node

UNKNOWN_FOR = 0.2  # [s, wall time] until a publisher that was refused is looked up again: discovery may be late
UNDISCOVERED = "_NODE_NAME_UNKNOWN_"  # the name that rmw gives a publisher's node until it is known
MOST_KNOWN = 256  # publishers that are remembered


def publisher_gid(info: dict[str, Any]) -> bytes:
    """Return the DDS identity of a message's publisher; b"" if the middleware does not provide it."""
    gid = info.get("publisher_gid") or b""
    return bytes(gid["data"] if isinstance(gid, dict) else gid)


def publisher_name(node: Node, topic: str, gid: bytes) -> str:
    """Return the full name of the node that publishes on `topic` with this identity; "" if it is not known."""
    for known in node.get_publishers_info_by_topic(topic):
        if gid and bytes(known.endpoint_gid)[: len(gid)] == gid and known.node_name != UNDISCOVERED:
            return f"{known.node_namespace.rstrip('/')}/{known.node_name}"
    return ""


class PublisherCheck:
    """Refuses messages on `topic` from other nodes than those called `names`, relative to the namespace of `node`.

    Without names it refuses nothing.
    """

    def __init__(self, node: Node, topic: str, names: Iterable[str]) -> None:
        self._node, self._topic = node, topic
        self._names = [f"{node.get_namespace().rstrip('/')}/{name}" for name in names]
        self._accepted: set[bytes] = set()
        self._refused: dict[bytes, float] = {}  # until when [s, monotonic]

    def passes(self, info: dict[str, Any]) -> bool:
        """Return whether the message with this MessageInfo may be taken; log it if another node sent it."""
        if not self._names:
            return True
        gid = publisher_gid(info)
        if gid in self._accepted:
            return True
        if time.monotonic() < self._refused.get(gid, 0.0):
            return False
        found = publisher_name(self._node, self._topic, gid)
        if found in self._names:
            self._accepted.add(gid)
            return True
        if len(self._refused) > MOST_KNOWN:
            self._refused.clear()
        self._refused[gid] = time.monotonic() + UNKNOWN_FOR
        if found:
            self._node.get_logger().warning(
                f"{self._topic} of {found} is refused: only {' or '.join(self._names)} sends it, for the running step "
                "of a plan. Command the robot by language_command or the action execute_command",
                throttle_duration_sec=5.0,
            )
        return False
