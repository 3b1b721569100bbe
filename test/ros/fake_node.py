"""A node without ROS, for what is built on one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


@dataclass
class FakeNode:
    """Has parameters; keeps callbacks, kinds and published messages by topic, and the log.

    Parameters that are not given have the value of `defaults`, else "".
    """

    parameters: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    heard: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    kinds: dict[str, type] = field(default_factory=dict)
    sent: dict[str, list[Any]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    is_active: bool = True

    def setting(self, name: str) -> Any:
        return self.parameters.get(name, self.defaults.get(name, ""))

    def get_namespace(self) -> str:
        return "/"

    def create_subscription(self, kind: type, topic: str, callback: Callable[[Any], None], qos: object) -> None:
        self.heard[topic] = callback

    def create_lifecycle_publisher(self, kind: type, topic: str, qos: object) -> SimpleNamespace:
        self.kinds[topic] = kind
        return SimpleNamespace(publish=self.sent.setdefault(topic, []).append)

    def get_logger(self) -> SimpleNamespace:
        def say(text: str, **options: object) -> None:
            self.log.append(text)

        return SimpleNamespace(error=say, warning=say)
