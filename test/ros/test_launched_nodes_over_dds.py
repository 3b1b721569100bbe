"""Nodes as `ros2 launch` starts them, in one process group: the README's command in the default world, and Ctrl-C."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rclpy.qos import QoSProfile
from std_msgs.msg import Empty, String

from llm_planner.cli.processes import node_arguments, own_network
from llm_planner.cli.system_options import requested_system
from llm_planner.ros.client import SystemClient
from llm_planner.ros.heartbeat_monitor import Readiness
from llm_planner.ros.node_table import NODES_IN_SIMULATION
from llm_planner.ros.processes import CANNOT_START

LAUNCHER = """
import json, os, signal, subprocess, sys
from llm_planner.ros.processes import dies_with
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
children = [subprocess.Popen(dies_with(os.getpid(), words)) for words in json.load(sys.stdin)]
print("started", flush=True)
print(json.dumps([child.wait() for child in children]))
"""
TIMEOUT = 120.0  # [s, wall time]
ENDS_WITHIN = 30.0  # [s, wall time]


@dataclass
class Launched:
    """All nodes of a system, in the process group of their launcher."""

    launcher: subprocess.Popen[str]
    log: Path
    domain: int

    def signal(self, number: int) -> None:
        """Signal the group twice: a terminal does so for Ctrl-C, and the launch signals its nodes as well."""
        for _ in range(2):
            os.killpg(self.launcher.pid, number)
            time.sleep(0.01)

    def statuses(self) -> list[int]:
        """Exit statuses of all nodes, which have to end in time."""
        printed, _ = self.launcher.communicate(timeout=ENDS_WITHIN)
        return json.loads(printed)

    @property
    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8")


@pytest.fixture
def launch(tmp_path) -> Iterator[Callable[..., Launched]]:
    """Starts a system with launch arguments."""
    running: list[Launched] = []

    def launched(**given: str) -> Launched:
        environment = {**os.environ, **own_network(random.Random()), "ROS_HOME": str(tmp_path), "MUJOCO_GL": "disable"}
        system, log = requested_system(given), tmp_path / "nodes.log"
        commands = [[sys.executable, "-m", one.module, *node_arguments(one, system.options)] for one in system.entries]
        with log.open("ab") as output:
            launcher = subprocess.Popen(
                [sys.executable, "-c", LAUNCHER],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,
            )
        launcher.stdin.write(json.dumps(commands))
        launcher.stdin.flush()
        launcher.stdin.close()
        launcher.stdin = None
        assert launcher.stdout.readline() == "started\n"
        running.append(Launched(launcher, log, int(environment["ROS_DOMAIN_ID"])))
        return running[-1]

    yield launched
    for one in running:
        one.launcher.kill()  # its nodes die with it
        one.launcher.wait()
        one.launcher.stdout.close()


def story(log: str) -> list[str]:
    """What the nodes told at level info, without stamps."""
    return [line.split("] ", 2)[2] for line in log.splitlines() if line.startswith("[INFO]")]


def test_the_command_of_the_readme_is_carried_out_told_and_stopped_by_a_topic(launch):
    running = launch()
    client = SystemClient("", running.domain)
    speeds = [0.0]
    client.watch_joints(lambda stamp, qpos, qvel, width: speeds.append(max(map(abs, qvel))))
    try:
        readiness = Readiness(client.node, [entry.name for entry in NODES_IN_SIMULATION])
        client.wait_until(lambda: not readiness.missing, TIMEOUT)
        client.wait_for_system(TIMEOUT)
        rest, before = time.monotonic(), len(story(running.printed))
        client.wait_until(lambda: time.monotonic() > rest + 3.0, TIMEOUT)
        assert len(story(running.printed)) == before, "nothing is told at rest"

        command = client.node.create_publisher(String, "language_command", 10)  # as `ros2 topic pub --once`
        client.wait_until(lambda: command.get_subscription_count() > 0, TIMEOUT)
        command.publish(String(data="put the red block in the green bowl"))
        client.wait_until(
            lambda: any("place_in" in line and "done" in line for line in story(running.printed)), TIMEOUT
        )
        client.wait_until(lambda: any("succeeded: " in line for line in story(running.printed)), TIMEOUT)
        lines = story(running.printed)[before:]
        told = ["command “put the red block", "plan: pick(", "executing “put", "step 1/2 pick", "step 2/2 place_in"]
        found = [next(k for k, line in enumerate(lines) if line.partition("]: ")[2].startswith(one)) for one in told]
        assert found == sorted(found), lines

        command.publish(String(data="put the blue block in the green bowl, but never reach over the mug"))
        client.wait_until(lambda: speeds[-1] > 0.1, TIMEOUT)
        stop = client.node.create_publisher(Empty, "stop", QoSProfile(depth=1))
        client.wait_until(lambda: stop.get_subscription_count() > 0, TIMEOUT)
        stop.publish(Empty())
        client.wait_until(lambda: any("stop: a stop came by the topic" in line for line in story(running.printed)), 5.0)
        client.wait_until(lambda: speeds[-1] < 0.01, 5.0)
        assert any("rule in force: " in line and "!over(robot, mug)" in line for line in story(running.printed))
    finally:
        client.close()
    running.signal(signal.SIGINT)
    assert set(running.statuses()) == {0}
    assert "Traceback" not in running.printed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [0.3, 1.5, 4.0], ids=["imports", "begin", "configure"])
def test_a_launch_that_is_interrupted_while_it_starts_ends_without_a_traceback(launch, number, after):
    running = launch(model="embedded")
    time.sleep(after)
    running.signal(number)
    assert {*running.statuses()} <= {0, -number}
    assert "Traceback" not in running.printed
    assert "KeyboardInterrupt" not in running.printed


def test_an_unknown_parameter_of_a_node_that_is_started_alone_is_refused_with_a_suggestion():
    command = [sys.executable, "-m", "llm_planner.ros.nodes.camera_node", "--ros-args", "-p"]
    environment = {**os.environ, **own_network(random.Random())}
    done = subprocess.run(
        [*command, "rat:=5.0"], env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == CANNOT_START
    assert "camera has no parameter 'rat'; did you mean 'rate'?" in done.stderr
    assert "Traceback" not in done.stderr
