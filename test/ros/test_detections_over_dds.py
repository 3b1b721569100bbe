"""A command is carried out where the scene comes from a detector that speaks vision_msgs, over DDS.

The robot is `examples/ros/mock_ros2_control.py`, the detector `examples/ros/mock_detector.py`: with noise, without
names or tracks, in the frame of a camera where tf2_msgs is installed, and blind for what the hand holds. The true
scene, which only the detector hears, decides.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from contextlib import ExitStack
from math import dist
from pathlib import Path

import pytest
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.qos import ReliabilityPolicy

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import SENSOR_DATA
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.scene_messages import scene_from_msg
from llm_planner.ros.node_table import ADAPTERS, nodes_beside
from llm_planner.scene.scene import Scene

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed; make setup-dev builds a stand-in")
pytest.importorskip("vision_msgs.msg", reason="vision_msgs is not installed; make setup-dev builds a stand-in")

EXAMPLES = Path(__file__).parents[2] / "examples" / "ros"
ROBOT, TIMEOUT = "fr3", 120.0  # [s] of wall time: generous, because the machine may be busy
PROGRAMS = 'put the red block in the green bowl: |\n  pick("red block")\n  place_in("green bowl")\n'


def test_a_command_is_carried_out_by_what_a_detector_sees(tmp_path):
    environment, script = own_network(random.Random()), tmp_path / "programs.yaml"
    script.write_text(PROGRAMS, encoding="utf-8")
    journal, real = {"journal": str(tmp_path / "journal.sqlite")}, {"robot": ROBOT, "simulator": "false"}
    options = NodeOptions(
        {
            "mpc_controller": real,
            "safety_filter": real,
            "skill_server": {**real, "scripted": "true"},
            "gripper": {"robot": ROBOT},
            "plan_executor": {"robot": ROBOT, "scene_timeout": "4.0", **journal},
            "language_planner": {"robot": ROBOT, "model": "scripted", "model_script": str(script), **journal},
            "correction_listener": {"robot": ROBOT},
            "detections": {"robot": ROBOT, "detections_timeout": "4.0"},
        }
    )
    objects = ["--objects", "red block, blue block, green bowl", "--pace", "0.4", "--ros-args", "-r", "scene:=truth"]
    programs = [["mock_ros2_control.py", "--robot", ROBOT, *objects], ["mock_detector.py", "--robot", ROBOT]]
    nodes = (*nodes_beside(simulator=False), *(entry for entry in ADAPTERS if entry.name == "detections"))
    truth: list[Scene] = []
    with ExitStack() as running:
        processes = running.enter_context(NodeProcesses(nodes, options, tmp_path / "nodes.log", environment))
        for program, *words in programs:
            process = subprocess.Popen(
                [sys.executable, str(EXAMPLES / program), *words], env={**os.environ, **environment}
            )
            running.callback(process.wait)
            running.callback(process.terminate)
        threading.Thread(target=processes.supervise, args=(lambda told: None,), daemon=True).start()
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]), robot=ROBOT)
        running.callback(client.close)
        seen: list[Scene] = []
        client.watch_scene(seen.append)
        client.node.create_subscription(
            SceneMsg, "truth", lambda message: truth.append(scene_from_msg(message)), SENSOR_DATA
        )
        client.wait_for_system(TIMEOUT)
        client.wait_until(lambda: bool(truth) and any(len(scene.objects) == 3 for scene in seen), TIMEOUT)
        (publisher,) = client.node.get_publishers_info_by_topic("scene")
        assert publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE, "docs/reference/topics.md says so"
        result = client.execute("put the red block in the green bowl", lambda progress: None)
        assert result.succeeded, result.message
    bowl, block = truth[-1].find("green bowl"), truth[-1].find("red block")
    assert dist(block.position[:2], bowl.position[:2]) < 0.03
    assert truth[-1].held == ""
    assert any(scene.held == "red block" for scene in seen)
