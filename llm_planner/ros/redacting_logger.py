"""Logger of a node that redacts secrets and takes no time to find out who logs."""

from __future__ import annotations

import sys
import time

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.impl.rcutils_logger import RcutilsLogger

from llm_planner.text import redacted

_RCLPY = RcutilsLogger.info.__code__.co_filename


class RedactingLogger(RcutilsLogger):
    """rclpy logger that redacts keys and credentials.

    rclpy's own `log` looks through all modules at the first line (0.15 s, in a control loop too) to name the caller.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._last: dict[tuple[str, int], float] = {}  # time of the newest line by file and line of the caller [s]

    def log(self, message: object, severity: int, *, throttle_duration_sec: float = 0.0, **options: object) -> bool:
        """Log as rclpy does; options besides the throttle are left to it."""
        if options:
            return super().log(redacted(str(message)), severity, throttle_duration_sec=throttle_duration_sec, **options)
        if not self.is_enabled_for(severity):
            return False
        caller = sys._getframe(1)
        while caller.f_back and caller.f_code.co_filename == _RCLPY:
            caller = caller.f_back
        code, now = caller.f_code, time.monotonic()
        place = code.co_filename, caller.f_lineno
        if now - self._last.get(place, -float("inf")) < throttle_duration_sec:
            return False
        self._last[place] = now
        rclpy_implementation.rclpy_logging_rcutils_log(
            severity, self.name, redacted(str(message)), code.co_name, *place
        )
        return True
