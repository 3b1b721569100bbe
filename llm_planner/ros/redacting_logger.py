"""Logger of a node that redacts secrets.

It has a module of its own: rclpy looks for the caller of a log line outside of the files in `_internal_callers`.
"""

from __future__ import annotations

import os

from rclpy.impl import rcutils_logger
from rclpy.impl.rcutils_logger import RcutilsLogger

from llm_planner.text import redacted

rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class RedactingLogger(RcutilsLogger):
    """rclpy logger that redacts keys and credentials."""

    def log(self, message: object, severity: int, **options: object) -> bool:
        return super().log(redacted(str(message)), severity, **options)
