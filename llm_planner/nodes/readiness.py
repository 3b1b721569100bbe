"""Whether the nodes of a system are ready to work, from what they say on /diagnostics."""

from __future__ import annotations

from collections.abc import Iterable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

# They warn for as long as the scene, the robot's states or the model are missing; the others warn of how they do.
_WARN_UNTIL_READY = ("language_planner", "plan_executor", "skill_server")


class Readiness:
    """Listens on behalf of a `node` for the nodes of these `names` in its namespace."""

    def __init__(self, node: Node, names: Iterable[str]) -> None:
        prefix = node.get_namespace().rstrip("/")
        self._lacks = {f"{prefix}/{name}": "it has not been heard of yet" for name in names}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 50)

    @property
    def missing(self) -> dict[str, str]:
        """The nodes that are not ready, by name, and what each lacks."""
        return {name.rpartition("/")[2]: lacks for name, lacks in self._lacks.items() if lacks}

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name in self._lacks:
                self._lacks[status.name] = "" if is_ready(status) else status.message


def is_ready(status: DiagnosticStatus) -> bool:
    """Whether a node that reports so can do its part of a command."""
    warns_until_ready = status.name.rpartition("/")[2] in _WARN_UNTIL_READY
    return status.level < (DiagnosticStatus.WARN if warns_until_ready else DiagnosticStatus.ERROR)
