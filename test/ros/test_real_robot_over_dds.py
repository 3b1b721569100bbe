"""Without the simulator: the nodes of a real robot, beside a driver with the semantics of ros2_control, over DDS.

The driver is `examples/ros/mock_ros2_control.py`. It has no physics: an object is held when the fingers stall around
its box, and stays where they open.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import dist
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Float64

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import GRAPH, nodes_beside
from llm_planner.ros.security import Topics, dds_topics
from llm_planner.scene.scene import Scene
from llm_planner.share import share_folder

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed; make setup-dev builds a stand-in")

DRIVER = Path(__file__).parents[2] / "examples" / "ros" / "mock_ros2_control.py"
TIMEOUT = 120.0  # [s] of wall time: generous, because the machine may be busy
PROGRAMS = 'put the red block in the green bowl: |\n  pick("red block")\n  place_in("green bowl")\n'
UR5E = share_folder("config") / "robots" / "ur5e"
ROBOTIQ = """controllers:
  arm: {name: scaled_joint_trajectory_controller}
  gripper:
    action: robotiq_gripper_controller/gripper_cmd
    type: ParallelGripperCommand
    open: {width: 0.08, position: 0.0}
    closed: {width: 0.0, position: 0.7929}
    joint: robotiq_85_left_knuckle_joint
"""


@dataclass
class RealSystem:
    """The nodes, a client, and what it has heard."""

    robot: str
    client: SystemClient
    scenes: list[Scene] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    told: dict[str, list[str]] = field(default_factory=dict)

    def on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.told.setdefault(status.name.lstrip("/"), []).append(status.message)

    @property
    def scene(self) -> Scene:
        return self.scenes[-1]


def folder_of(robot: str, folder: Path) -> str:
    """Return the name of an arm, or its new folder with the controllers of a UR5e with a Robotiq gripper."""
    if robot != "ur5e with a Robotiq gripper":
        return robot
    text = (UR5E / "robot.yaml").read_text(encoding="utf-8").partition("controllers:")[0]
    mine = folder / "mine"
    mine.mkdir()
    (mine / "robot.yaml").write_text(text.replace("ur5e.urdf", str(UR5E / "ur5e.urdf")) + ROBOTIQ, encoding="utf-8")
    return str(mine)


@pytest.fixture(scope="module", params=["fr3", "ur5e with a Robotiq gripper"])
def system(request, tmp_path_factory) -> Iterator[RealSystem]:
    folder, environment = tmp_path_factory.mktemp("real"), own_network(random.Random())
    script, robot = folder / "programs.yaml", folder_of(request.param, folder)
    script.write_text(PROGRAMS, encoding="utf-8")
    journal, real = {"journal": str(folder / "journal.sqlite")}, {"robot": robot, "simulator": "false"}
    options = NodeOptions(
        {
            "mpc_controller": real,
            "safety_filter": real,
            "skill_server": {**real, "scripted": "true"},
            "gripper": {"robot": robot},
            "plan_executor": {"robot": robot, "scene_timeout": "4.0", **journal},
            "language_planner": {"robot": robot, "model": "scripted", "model_script": str(script), **journal},
            "correction_listener": {"robot": robot},
        }
    )
    words = [sys.executable, str(DRIVER), "--robot", robot, "--objects", "red block, green bowl", "--pace", "0.4"]
    with (
        NodeProcesses(nodes_beside(simulator=False), options, folder / "nodes.log", environment) as processes,
        subprocess.Popen(words, env={**os.environ, **environment}) as driver,
    ):
        threading.Thread(target=processes.supervise, args=(lambda told: None,), daemon=True).start()
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]), robot=robot)
        found = RealSystem(robot, client)
        client.watch_scene(found.scenes.append)
        client.node.create_subscription(Float64, "gripper_command", lambda m: found.widths.append(m.data), LATCHED)
        client.node.create_subscription(DiagnosticArray, "/diagnostics", found.on_report, 100)
        try:
            client.wait_for_system(TIMEOUT)
            client.wait_until(lambda: (found.scenes and "gripper" in found.told) or driver.poll() is not None, TIMEOUT)
            assert driver.poll() is None, "the driver ended; it has printed why"
            yield found
        finally:
            driver.terminate()
            client.close()


def test_a_command_is_carried_out_to_its_end(system):
    before = system.scene.find("red block")
    result = system.client.execute("put the red block in the green bowl", lambda progress: None)
    assert result.succeeded, result.message

    taken = next(scene for scene in system.scenes if scene.held == "red block")
    assert dist(taken.robot.position[:2], before.position[:2]) < 0.005, "the arm reached the pose of the grasp"
    opening, *closing, released = system.widths
    assert opening > min(before.size[:2]) > max(closing), "the fingers went around the block and closed on it"
    assert released > min(before.size[:2])

    bowl, block = system.scene.find("green bowl"), system.scene.find("red block")
    assert dist(block.position[:2], bowl.position[:2]) < 0.03, "the arm released it over the bowl"
    assert system.scene.held == ""
    system.client.wait_until(lambda: system.told["gripper"][-1] == f"is at {released:.3f} m", TIMEOUT)
    assert any(told.startswith("stalled on the way to ") for told in system.told["gripper"])


def test_the_gripper_node_does_what_the_table_says(system):
    node, action = system.client.node, Topics.of(arm_model(system.robot)).gripper
    written, read = dds_topics(replace(GRAPH["gripper"], sends=frozenset({action})), "", "gripper")
    heard = {f"rt{topic}" for topic, _ in node.get_subscriber_names_and_types_by_node("gripper", "/")}
    called = {f"rq{name}Request" for name, _ in node.get_client_names_and_types_by_node("gripper", "/")}
    assert heard - {"rt/parameter_events", "rt/clock"} == {topic for topic in read if topic.startswith("rt")}
    assert called == {topic for topic in written if topic.startswith("rq")}
