"""How long another process has said nothing, as far as we were listening.

Whether the nodes that move the robot live: one that died under a plan would move it again when it is back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

LONGEST_LOOK = 0.6  # [s] that one look may add by default: a longer gap means that we were held up ourselves


class HeartbeatMonitor:
    """Counts while it is looked at, a few times a second.

    What was said while we were held up still waits to be read: such a gap says nothing about the other process.
    """

    def __init__(self, longest_look: float = LONGEST_LOOK) -> None:
        """`longest_look` [s] is the most that one look adds."""
        self._longest_look = longest_look
        self.seconds = math.inf  # nothing was ever heard
        self._looked = math.inf

    def heard(self) -> None:
        """Something was said."""
        self.seconds = 0.0

    def look(self, now: float) -> None:
        """Count on to `now` [s, monotonic]."""
        self.seconds += min(max(0.0, now - self._looked), self._longest_look)
        self._looked = now


_TOPIC = "/diagnostics"  # to which every node reports once a second
SILENCE_MAX = 2.5  # wall seconds without a report after which a node has died


class Movers:
    """Looks after the nodes of these names in the namespace of `node`; what was never there is not missed."""

    def __init__(self, node: Node, names: Iterable[str]) -> None:
        self._node, self._known = node, dict.fromkeys(names, frozenset[bytes]())
        prefix = node.get_namespace().rstrip("/")
        self._silences = {f"{prefix}/{name}": HeartbeatMonitor() for name in self._known}
        node.create_subscription(DiagnosticArray, _TOPIC, self._on_reports, 10)

    def _on_reports(self, message: DiagnosticArray) -> None:
        for report in message.status:
            if report.name in self._silences:
                self._silences[report.name].heard()

    def lost(self) -> str:
        """The name of one that has fallen silent, or was started anew since the last look, to be taken a few times a
        second; "" where there is none."""
        now = time.monotonic()
        for silence in self._silences.values():
            silence.look(now)
        silent = (name for name, one in self._silences.items() if SILENCE_MAX < one.seconds < math.inf)
        return self._started_anew() or next(silent, "").rpartition("/")[2]

    def _started_anew(self) -> str:
        """By what it has in the graph: another process has other endpoints."""
        here, again = self._node.get_namespace(), ""
        seen = [one for one in self._node.get_publishers_info_by_topic(_TOPIC) if one.node_namespace == here]
        for name, known in self._known.items():
            lives = frozenset(bytes(one.endpoint_gid) for one in seen if one.node_name == name)
            if known and not lives <= known:
                again = name
            self._known[name] = known | lives
        return again
