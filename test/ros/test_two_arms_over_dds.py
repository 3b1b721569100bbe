"""Two arms at one table, as processes over real DDS: each has its commands, its stop, its journal and its side."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from std_msgs.msg import String

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES_IN_SIMULATION, nodes_of
from llm_planner.ros.strip_feed import TOPIC
from llm_planner.scene import predicates
from test.ros.side_by_side import TIMEOUT, Robot

MAIN = [sys.executable, "-u", "-m", "llm_planner.cli.main"]
WORLD = """
robots:
  left: {x: 0.0, y: 0.42}
  right: {robot: ur5e, x: 0.0, y: -0.58}
objects:
  - {name: red block, x: 0.40, y: 0.65}
  - {name: green bowl, x: 0.50, y: 0.42}
  - {name: blue block, x: 0.40, y: -0.80}
  - {name: yellow bowl, x: 0.50, y: -0.58}
  - {name: gray block, x: 0.45, y: -0.08}
  - {name: orange block, x: 0.38, y: 0.16}
"""
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
to and fro: |
  for k in range(6):
      pick("blue block")
      place_at("right side")
      pick("blue block")
      place_at("bottom right corner")
take the gray block: pick("gray block")
put it down: place_in("green bowl")
take the orange block: pick("orange block")
take the blue block: pick("blue block")
"""


@dataclass
class Table:
    left: Robot
    right: Robot
    home: Path


def written(folder: Path) -> tuple[Path, Path]:
    """Write the world and the programs of the model; return both files."""
    world, script = folder / "table.yaml", folder / "programs.yaml"
    world.write_text(WORLD, encoding="utf-8")
    script.write_text(PROGRAMS, encoding="utf-8")
    return world, script


def test_commands_that_are_typed_while_the_system_starts_are_carried_out(tmp_path):
    world, script = written(tmp_path)
    environment = {**os.environ, **own_network(random.Random()), "ROS_HOME": str(tmp_path / "home")}
    pipes = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    line = [*MAIN, "up", "--world", str(world), "--model", "scripted", "--model-script", str(script)]
    with subprocess.Popen([*line, "--no-record"], cwd=tmp_path, stderr=subprocess.DEVNULL, **pipes) as up:
        try:
            assert up.stdout.readline().startswith("started: simulator")
            commands = {"left": "put the red block in the green bowl", "right": "take the blue block"}
            said = [subprocess.Popen([*MAIN, "say", "--namespace", *one], **pipes) for one in commands.items()]
            for saying in said:
                output, _ = saying.communicate(timeout=2 * TIMEOUT)
                assert saying.returncode == 0, output
        finally:
            up.send_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("table")
    world, script = written(folder)
    environment = own_network(random.Random()) | {"ROS_HOME": str(folder / "home")}
    wanted = [entry for entry in NODES_IN_SIMULATION if entry.name not in ("camera", "correction_listener")]
    entries = nodes_of(("left", "right"), wanted)
    parameters = {
        "simulator": {"world": str(world), "real_time_factor": "1.0"},
        "language_planner": {"model": "scripted", "model_script": str(script)},
    }
    for name, robot in (("left", "panda"), ("right", "ur5e")):
        for entry in entries:
            if entry.of_robot:
                parameters[f"{name}/{entry.name}"] = {"robot": robot, "table": str(world)}
    with NodeProcesses(entries, NodeOptions(parameters), folder / "nodes.log", environment) as processes:
        arms = []
        for name, robot in (("left", "arm"), ("right", "ur5e")):
            client = SystemClient(name, int(environment["ROS_DOMAIN_ID"]), robot)
            arm = Robot(client, processes)
            client.watch_scene(arm.on_scene)
            client.node.create_subscription(String, TOPIC, arm.on_reserved, LATCHED)
            arms.append(arm)
        for arm in arms:
            arm.client.wait_for_system(TIMEOUT, arm.all_alive)
            arm.wait(lambda arm=arm: arm.scene is not None and len(arm.reserved) == 2)
        yield Table(*arms, folder / "home" / "llm_planner" / f"domain_{environment['ROS_DOMAIN_ID']}")
        for arm in arms:
            arm.client.close()


def test_each_arm_sees_the_things_in_its_own_base_frame(table):
    left, right = table.left.scene.find("gray block"), table.right.scene.find("gray block")
    assert left.position == pytest.approx((0.45, -0.50, 0.02), abs=0.005)
    assert right.position == pytest.approx((0.45, 0.50, 0.02), abs=0.005)
    assert table.left.scene.time == pytest.approx(table.right.scene.time, abs=1.0)


def test_a_thing_in_reach_on_the_other_side_is_not_taken(table):
    result = table.right.say("take the orange block")
    assert not result.succeeded
    assert "the side of left" in result.message


def test_one_arm_is_stopped_while_the_other_goes_on(table):
    tour, task = table.right.submit("to and fro"), table.left.submit("put the red block in the green bowl")
    table.right.wait(lambda: table.right.scene.held == "blue block" or tour.is_done)
    assert not tour.is_done, tour.result
    assert table.right.client.stop("a test").was_running
    table.right.wait(lambda: tour.is_done)
    assert not tour.result.succeeded
    table.left.wait(lambda: task.is_done)
    assert task.result.succeeded, task.result.message
    table.left.wait(lambda: predicates.in_(table.left.scene, "red block", "green bowl"))


def test_a_thing_in_the_strip_is_taken_by_one_arm_which_keeps_the_strip_while_it_holds_the_thing(table):
    assert table.left.say("take the gray block").succeeded
    table.left.wait(lambda: table.left.reserved["left"] == {"left and right"})
    assert table.left.reserved["right"] == frozenset()
    result = table.left.say("put it down")
    assert result.succeeded, result.message
    table.left.wait(lambda: predicates.in_(table.left.scene, "gray block", "green bowl"))
    table.left.wait(lambda: not table.left.reserved["left"])


def test_each_system_has_its_own_journal(table):
    assert {path.parent.name for path in table.home.glob("*/journal.sqlite")} == {"left", "right"}
