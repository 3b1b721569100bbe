"""DDS check of `llm-planner doctor`: sends messages to a second process and back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException
from std_msgs.msg import UInt64

from llm_planner.ros.processes import dies_with

COUNT = 20
TIMEOUT = 20.0  # [s]


def main() -> None:
    """Print the median round-trip time; exit with status 1 and a sentence if nothing comes back."""
    if "--echo" in sys.argv:
        _echo()
        return
    command = [sys.executable, "-m", "llm_planner.ros.round_trip", "--echo"]
    echo = subprocess.Popen(dies_with(os.getpid(), command))
    try:
        durations = _measure()
    finally:
        echo.kill()  # SIGKILL, since rclpy may hang if another signal arrives during its start
        echo.wait()
    if not durations:
        raise SystemExit(f"two processes did not hear each other within {TIMEOUT:g} s")
    print(f"{1e3 * sorted(durations)[len(durations) // 2]:.1f} ms there and back")


def _measure() -> list[float]:
    rclpy.init()
    node = rclpy.create_node("round_trip")
    sender = node.create_publisher(UInt64, "round_trip/there", 10)
    durations: list[float] = []
    sent = {}

    def receive(message: UInt64) -> None:
        durations.append(time.perf_counter() - sent[message.data])

    node.create_subscription(UInt64, "round_trip/back", receive, 10)
    deadline = time.monotonic() + TIMEOUT
    number = 0
    while len(durations) < COUNT and time.monotonic() < deadline:
        number += 1
        sent[number] = time.perf_counter()
        sender.publish(UInt64(data=number))
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.shutdown()
    return durations


def _echo() -> None:
    rclpy.init()
    node = rclpy.create_node("round_trip_echo")
    back = node.create_publisher(UInt64, "round_trip/back", 10)
    node.create_subscription(UInt64, "round_trip/there", back.publish, 10)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()
