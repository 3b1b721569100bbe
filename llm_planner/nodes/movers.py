"""Whether the nodes that move the robot live: one that died under a plan would move it again when it is back."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from llm_planner.nodes.silence import Silence

_TOPIC = "/diagnostics"  # to which every node reports once a second
SILENCE_MAX = 2.5  # wall seconds without a report after which a node has died


class Movers:
    """Looks after the nodes of these names in the namespace of `node`; what was never there is not missed."""

    def __init__(self, node: Node, names: Iterable[str]) -> None:
        self._node, self._known = node, dict.fromkeys(names, frozenset[bytes]())
        prefix = node.get_namespace().rstrip("/")
        self._silences = {f"{prefix}/{name}": Silence() for name in self._known}
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
