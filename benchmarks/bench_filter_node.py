"""Steps of the safety filter on time in the running system, beside two processes that use the cores.

All nodes run except the controller, whose place a commander takes: it sweeps the arm to and fro, faster than a speed
limit allows, so that the filter steps all the time. The filter reports how many of its steps began more than half a
period late.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from llm_planner_interfaces.msg import MotionPatch
from reports import print_report, report_parser
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.control.formulation import StartState, integrate
from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import NEWEST_ONLY, PATCHES, SENSOR_DATA
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.motion_messages import patch_to_msg
from llm_planner.ros.conversions.robot_messages import trajectory_to_msg
from llm_planner.ros.node_table import NODES

PANDA = arm_model("panda")
SPEED, SWEEP, PERIOD = 0.15, 0.8, 4.0  # [m/s] limit; [rad] and [s] of the commander's sweep
TIMEOUT = 120.0  # [s]
WITHOUT = ("mpc_controller", "camera")


class Commander:
    """Publishes the sweep, and adds up the filter's reports."""

    def __init__(self, client: SystemClient) -> None:
        self.client, self.time, self.steps, self.late = client, -1.0, 0, 0
        self.reports, self.medians, self.scheduling = 0, list[float](), ""
        node = client.node
        node.create_subscription(JointState, "joint_states", self._on_state, SENSOR_DATA)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, NEWEST_ONLY)
        self._controller = rclpy.create_node("mpc_controller", context=node.context)  # heard of no other node
        self._wanted = self._controller.create_publisher(JointTrajectory, "joint_command_wanted", 1)
        self._sent = -1.0

    def _on_state(self, message: JointState) -> None:
        self.time = seconds(message.header.stamp)

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "/safety_filter":
                values = {pair.key: pair.value for pair in status.values}
                self.reports += 1
                self.steps += int(values["steps"])
                self.late += int(values["late_steps"])
                self.scheduling = values["scheduling"]
                if "filter_time_median_ms" in values:
                    self.medians.append(float(values["filter_time_median_ms"]))

    def want(self) -> None:
        """Publish where the arm should be by now, and that it brakes afterwards; 50 times a second."""
        now = self.time + 0.03
        if now < self._sent + 0.02:
            return
        self._sent = now
        start, turn, rate = np.array(PANDA.home), np.zeros(7), 2 * np.pi / PERIOD
        start[0] += SWEEP * np.sin(rate * now)
        turn[0] = SWEEP * rate * np.cos(rate * now)
        qacc = np.zeros((10, 7))
        qacc[5:] = -turn / 0.25
        self._wanted.publish(trajectory_to_msg(integrate(StartState(start, turn, turn), qacc, now, 0.05, 0.08), PANDA))

    def until(self, condition) -> None:
        self.client.wait_until(lambda: self.want() or condition(), TIMEOUT)


def run(length: float, busy: int, priority: int) -> dict[str, object]:
    """All figures, of `length` seconds of the robot's time."""
    environment = own_network(random.Random())
    entries = [entry for entry in NODES if entry.name not in WITHOUT]
    options = NodeOptions({"simulator": {"objects": "mug"}, "safety_filter": {"real_time_priority": str(priority)}})
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.enter_context(NodeProcesses(entries, options, Path(folder, "log"), environment))
        for _ in range(busy):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(process.kill)
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        commander = Commander(client)
        client.wait_until(lambda: commander.time > 0.0 and commander.reports > 0, TIMEOUT)
        patches = client.node.create_publisher(MotionPatch, "motion_patch", PATCHES)
        client.wait_until(lambda: patches.get_subscription_count() > 0, TIMEOUT)
        asked = commander.time
        patches.publish(patch_to_msg(Patch("the benchmark", asked, asked + 1000.0, speed=SPEED), "panda_link0"))
        commander.until(lambda: commander.time > asked + 2.0)
        commander.steps = commander.late = 0
        commander.medians.clear()
        commander.until(lambda: commander.time > asked + 2.0 + length)
        client.close()
    return {
        "busy": busy,
        "scheduling": commander.scheduling,
        "steps": commander.steps,
        "late": commander.late,
        "on_time": round(1.0 - commander.late / max(1, commander.steps), 4),
        "step_median_ms": round(float(np.median(commander.medians)), 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--busy", type=int, default=2, help="processes that use a core")
    parser.add_argument("--priority", type=int, default=20, help="of the filter; 0 for ordinary scheduling")
    options = parser.parse_args(argv)
    report = run(options.seconds, options.busy, options.priority)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
