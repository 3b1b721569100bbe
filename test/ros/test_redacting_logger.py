"""What a node logs: without secrets, not more often than asked for, and at once."""

from __future__ import annotations

import time

from llm_planner.ros.redacting_logger import RedactingLogger
from llm_planner.text import REDACTED

KEY = "sk-live-0123456789abcdef"


def test_secrets_are_redacted(capfd):
    RedactingLogger("a_node").error(f"refused: Bearer {KEY}")
    told = "".join(capfd.readouterr())
    assert "[ERROR]" in told
    assert "[a_node]" in told
    assert REDACTED in told
    assert KEY not in told


def test_a_line_is_not_repeated_before_its_time(capfd):
    logger = RedactingLogger("a_node")
    for number in range(3):
        logger.warning(f"slow {number}", throttle_duration_sec=60.0)
    logger.warning("another", throttle_duration_sec=60.0)
    told = "".join(capfd.readouterr())
    assert told.count("slow") == told.count("another") == 1


def test_options_of_rclpy_still_work(capfd):
    logger = RedactingLogger("a_node")
    for _ in range(3):
        logger.info(f"once: Bearer {KEY}", once=True)
    told = "".join(capfd.readouterr())
    assert told.count("once") == 1
    assert KEY not in told


def test_the_first_line_takes_no_longer_than_others(capfd):
    began = time.process_time()
    RedactingLogger("a_node").error("the robot brakes")
    assert time.process_time() - began < 0.01
