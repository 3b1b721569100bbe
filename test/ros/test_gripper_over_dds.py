"""The node `gripper` beside the action server of a driver, over DDS: widths are reached whatever is lost on the way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed; make setup-dev builds a stand-in")

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "examples" / "ros" / "mock_ros2_control.py"
TIMEOUT = 60.0  # [s] of wall time: generous, because the machine may be busy
GIVEN_UP = 8.0  # [s] after which the node gives a width up; on a busy machine a process takes seconds to start


@dataclass
class Bench:
    """The node, the driver, and what is heard of them."""

    processes: NodeProcesses
    environment: dict[str, str]
    client: SystemClient
    faults: Path
    width: float = 0.0  # that the driver measures [m]
    told: list[tuple[bytes, str]] = field(default_factory=list)
    driver: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        node = self.client.node
        node.create_subscription(JointState, "franka_gripper/joint_states", self._on_fingers, 10)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 100)
        self._commands = node.create_publisher(Float64, "gripper_command", LATCHED)

    def start_driver(self) -> None:
        words = [sys.executable, str(DRIVER), "--robot", "fr3"]
        self.driver = subprocess.Popen(words, env={**os.environ, **self.environment})
        self.width = 0.0
        self.wait(lambda: self.width > 0.0 or self.driver.poll() is not None)
        assert self.driver.poll() is None, "the driver ended; it has printed why"

    def move(self, width: float) -> None:
        self.told.clear()
        self._commands.publish(Float64(data=width))

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT)

    def wait_for(self, message: str) -> None:
        self.wait(lambda: any(said.startswith(message) for _, said in self.told))

    def _on_fingers(self, message: JointState) -> None:
        self.width = sum(message.position)

    def _on_report(self, message: DiagnosticArray) -> None:
        self.told += [(one.level, one.message) for one in message.status if one.name == "/gripper"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    folder, faults = tmp_path_factory.mktemp("gripper"), tmp_path_factory.mktemp("faults")
    python_path = os.pathsep.join(
        [str(ROOT / "benchmarks" / "fault_injection"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    environment = {**own_network(random.Random()), "LLM_PLANNER_FAULTS": str(faults), "PYTHONPATH": python_path}
    entries = [entry for entry in NODES if entry.name == "gripper"]
    options = NodeOptions({"gripper": {"robot": "fr3", "gripper_timeout": str(GIVEN_UP)}})
    with NodeProcesses(entries, options, folder / "node.log", environment) as processes:
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]), robot="fr3")
        found = Bench(processes, environment, client, faults)
        try:
            found.start_driver()
            yield found
        finally:
            found.driver.kill()
            found.driver.wait()
            client.close()


def test_a_width_is_reached_and_reported(bench):
    bench.move(0.03)
    bench.wait_for("is at 0.030 m")
    assert bench.width == pytest.approx(0.03, abs=0.002)


def test_the_newest_width_counts(bench):
    bench.move(0.07)
    bench.wait_for("is at 0.070 m")
    bench.move(0.0)
    bench.wait(lambda: bench.width < 0.065)
    bench.move(0.07)
    bench.wait_for("is at 0.070 m")
    assert bench.width == pytest.approx(0.07, abs=0.002)
    assert not any(said == "is at 0.000 m" for _, said in bench.told)


@pytest.mark.parametrize("lost", ["goal", "result"])
def test_a_lost_response_changes_nothing(bench, lost):
    fault, width = bench.faults / f"drop gripper_action.{lost}", 0.02 if lost == "goal" else 0.05
    fault.touch()
    bench.move(width)
    bench.wait_for(f"is at {width:.3f} m")
    assert not fault.exists(), "it was lost"
    assert bench.width == pytest.approx(width, abs=0.002)


def test_a_driver_that_has_gone_is_reported_and_the_next_one_is_used(bench):
    bench.driver.kill()
    bench.driver.wait()
    bench.move(0.04)
    bench.wait_for("franka_gripper/gripper_action (GripperCommand) did not end 0.040 m in time")
    assert bench.told[-1][0] == DiagnosticStatus.ERROR
    bench.start_driver()
    bench.move(0.03)
    bench.wait_for("is at 0.030 m")
    assert bench.width == pytest.approx(0.03, abs=0.002)
