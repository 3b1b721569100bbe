"""An arm on a mobile base as real processes: a stop while it drives, a correction, and what it fetches."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from llm_planner_interfaces.msg import MotionReference
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES_IN_SIMULATION
from llm_planner.scene.driven_base import in_map, table_below
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.scene import Scene

ROBOT = "mobile_ur5e"
PROGRAMS = """
bring the red block: |
  pick("red block")
  place_on("right table")
rest: wait(0)
"""
TIMEOUT = 90.0  # [s] of wall time: generous, because the machine may be busy
MOVES = 0.1  # [m/s, rad/s] of the base and of the arm's joints: both at once would break the interlock


@dataclass
class MobileArmSystem:
    """The running nodes, a client, and what it has heard; speeds of arm and base by stamp [s]."""

    client: SystemClient
    scenes: list[Scene] = field(default_factory=list)
    base: dict[float, float] = field(default_factory=dict)
    arm: dict[float, float] = field(default_factory=dict)
    ended: list[float] = field(default_factory=list)  # [s] when a skill was told to end

    @property
    def scene(self) -> Scene:
        return self.scenes[-1]

    @property
    def now(self) -> float:
        return max(self.base)

    def on_odometry(self, message: Odometry) -> None:
        twist = message.twist.twist
        self.base[stamp(message)] = max(abs(twist.linear.x), abs(twist.linear.y), abs(twist.angular.z))

    def on_joints(self, message: JointState) -> None:
        self.arm[stamp(message)] = float(np.abs(message.velocity).max())

    def on_reference(self, message: MotionReference) -> None:
        if not message.poses:
            self.ended.append(stamp(message))

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT)

    def table_of(self, name: str) -> str:
        """Return the table that the object stands on, "" for none."""
        scene = in_map(self.scene)
        item = scene.find(name)
        table = table_below(scene, item)
        return table.name if table and abs(bottom(item) - top(table)) < 0.02 and self.scene.held != name else ""


def stamp(message: Odometry | JointState | MotionReference) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


@pytest.fixture(scope="module")
def system(tmp_path_factory) -> Iterator[MobileArmSystem]:
    """All nodes but the camera; block and mug stand on the left table."""
    folder = tmp_path_factory.mktemp("mobile_arm")
    script = folder / "programs.yaml"
    script.write_text(PROGRAMS, encoding="utf-8")
    environment = own_network(random.Random())
    entries = [entry for entry in NODES_IN_SIMULATION if entry.name != "camera"]
    parameters = {entry.name: {"robot": ROBOT} for entry in entries}
    parameters["simulator"] |= {"world": "two_tables", "seed": "12", "objects": "mug, blue bowl, red block"}
    parameters["simulator"] |= {"real_time_factor": "2.0"}
    parameters["language_planner"] |= {"model": "scripted", "model_script": str(script)}
    parameters["correction_listener"] |= {"memory": str(folder / "memory.sqlite")}
    for name in ("language_planner", "plan_executor"):
        parameters[name] |= {"journal": str(folder / "journal.sqlite")}
    with NodeProcesses(entries, NodeOptions(parameters), folder / "nodes.log", environment) as processes:
        threading.Thread(target=processes.supervise, args=(lambda told: None,), daemon=True).start()
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]), robot=ROBOT)
        running = MobileArmSystem(client)
        client.watch_scene(running.scenes.append)
        client.node.create_subscription(Odometry, "odom", running.on_odometry, qos_profile_sensor_data)
        client.node.create_subscription(JointState, "joint_states", running.on_joints, qos_profile_sensor_data)
        client.node.create_subscription(
            MotionReference, "motion_reference", running.on_reference, qos_profile_sensor_data
        )
        client.wait_for_system(TIMEOUT)
        running.wait(lambda: running.scenes and running.base and running.arm)
        running.wait(lambda: client.execute("rest", lambda progress: None).succeeded)
        yield running
        client.close()


def driving(system: MobileArmSystem):
    """Give the command to the resting robot, and wait until the base drives."""
    system.wait(lambda: system.base[system.now] < 0.01)
    submission = system.client.submit("bring the red block")
    system.wait(lambda: system.base[system.now] > 0.5 or submission.is_done)
    assert not submission.is_done, submission.result.message
    return submission


def test_a_stop_while_it_drives_brings_base_and_arm_to_rest(system):
    assert system.table_of("red block") == "left table"
    submission, asked = driving(system), system.now
    assert system.client.stop("a test").was_running
    system.wait(lambda: submission.is_done)
    assert not submission.result.succeeded
    moving = [time for time, speed in system.base.items() if time > asked and speed > 0.03]
    assert max(moving) - system.ended[-1] < 0.7, "0.3 s to brake, and messages of a busy machine at twice the pace"
    assert max(moving) - asked < 1.5, "a busy machine passes a stop on later"
    assert max(speed for time, speed in system.arm.items() if time > asked) < MOVES


def test_a_correction_while_it_drives_changes_what_it_fetches(system):
    submission = driving(system)
    answer = system.client.correct("no, the mug")
    system.wait(lambda: submission.is_done)
    assert submission.result.succeeded, (answer, submission.result.message)
    system.wait(lambda: system.table_of("mug") == "right table")
    assert system.table_of("red block") == "left table"


def test_arm_and_base_have_not_moved_at_once(system):
    both = [time for time, speed in system.base.items() if speed > MOVES and system.arm.get(time, 0.0) > MOVES]
    assert not both
    assert max(system.base.values()) > 0.5
    assert max(system.arm.values()) > 0.5
