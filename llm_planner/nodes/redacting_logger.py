"""A node's logger that writes no secret, whoever calls it."""

from __future__ import annotations

import os

from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger

from llm_planner.redaction import redacted

rcutils_logger._internal_callers.append(os.path.realpath(__file__))  # the place of a message is where its caller is


class RedactingLogger(RcutilsLogger):
    """Logs as rclpy does, without keys and credentials."""

    def log(self, message: object, severity: int, name: str | None = None, **filters: object) -> bool:
        return super().log(redacted(str(message)), severity, name, **filters)
