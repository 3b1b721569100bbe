"""The safety filter between a commander that knows no zones and the simulated arm, as processes over real DDS."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from llm_planner_interfaces.msg import MotionPatch
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.control.formulation import StartState, integrate
from llm_planner.control.motion_constraints import Patch
from llm_planner.control.safety_filter.distances import surroundings
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import NEWEST_ONLY, PATCHES, SENSOR_DATA
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.motion_messages import patch_to_msg
from llm_planner.ros.conversions.robot_messages import trajectory_to_msg
from llm_planner.ros.node_table import NODES
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PANDA = arm_model("panda")

TIMEOUT = 60.0  # [s] of wall time: generous, because the machine may be busy
TURNING = 0.6  # [rad/s] of the first joint
BODY = arm_body(PANDA)
REACH = float(np.hypot(*BODY.place(np.array([PANDA.home])).points[:2, 0, 0]))
BALL = Zone("the vase", Shape.SPHERE, (0.05,), Pose((REACH * np.cos(1.0), REACH * np.sin(1.0), 0.59)), clearance=0.03)


def spare(qpos: np.ndarray) -> float:
    """What the nearest of the postures (K, 7) keeps from the vase beyond its clearance [m]."""
    return surroundings(BODY, [BALL]).clearance(qpos)


@dataclass
class Commander:
    """Turns the arm about its first joint for ever, as far as it is let."""

    processes: NodeProcesses
    client: SystemClient
    time: float = -1.0
    qpos: np.ndarray = field(default_factory=lambda: np.array(PANDA.home))
    speed: float = 0.0
    clearance: float = np.inf  # the smallest from the vase that was seen, beyond what has to be kept [m]
    commanded: float = np.inf  # the same, of all that the filter commanded, to its rest
    reports: list[DiagnosticStatus] = field(default_factory=list)
    began: float = -1.0

    def on_state(self, message: JointState) -> None:
        self.time = seconds(message.header.stamp)
        self.qpos, self.speed = np.array(message.position[:7]), float(np.abs(message.velocity[:7]).max())
        self.clearance = min(self.clearance, spare(self.qpos[None]))

    def on_command(self, message: JointTrajectory) -> None:
        self.commanded = min(self.commanded, spare(np.array([point.positions[:7] for point in message.points])))

    def on_report(self, message: DiagnosticArray) -> None:
        self.reports += [status for status in message.status if status.name == "/safety_filter"]

    def want(self, wanted) -> bool:
        """Publishes where the arm should be by now, turning on and braking."""
        if self.began < 0.0:
            self.began = self.time
        now = self.time + 0.03
        start, turn = np.array(PANDA.home), np.zeros(7)
        turn[0] = TURNING
        start[0] += TURNING * (now - self.began)
        qacc = np.zeros((10, 7))
        qacc[5:, 0] = -TURNING / 0.25
        plan = integrate(StartState(start, turn, turn), qacc, now, 0.05, 0.08)
        wanted.publish(trajectory_to_msg(plan, PANDA))
        return False

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT)

    def command_until(self, condition) -> None:
        """Goes on wanting until `condition` holds."""
        controller = rclpy.create_node("mpc_controller", context=self.client.node.context)
        wanted = controller.create_publisher(JointTrajectory, "joint_command_wanted", 1)
        self.wait(lambda: self.want(wanted) or condition())
        controller.destroy_node()


@pytest.fixture
def commander(tmp_path) -> Iterator[Commander]:
    environment = own_network(random.Random())
    entries = [entry for entry in NODES if entry.name in ("simulator", "safety_filter")]
    options = NodeOptions({"simulator": {"objects": "mug"}})
    with NodeProcesses(entries, options, tmp_path / "nodes.log", environment) as processes:
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        commander = Commander(processes, client)
        node = client.node
        node.create_subscription(JointState, "joint_states", commander.on_state, SENSOR_DATA)
        node.create_subscription(JointTrajectory, "joint_command", commander.on_command, 10)
        node.create_subscription(DiagnosticArray, "/diagnostics", commander.on_report, NEWEST_ONLY)
        commander.wait(lambda: commander.time > 0.0 and commander.reports)
        yield commander
        client.close()


def test_what_leads_into_a_zone_is_followed_up_to_it_and_no_farther(commander):
    patches = commander.client.node.create_publisher(MotionPatch, "motion_patch", PATCHES)
    commander.wait(lambda: patches.get_subscription_count() > 0)
    asked = commander.time
    patches.publish(patch_to_msg(Patch("the test", asked, asked + 100.0, zones=(BALL,)), "panda_link0"))
    commander.wait(lambda: commander.time > asked + 1.0)  # by now the whole clearance is in force
    commander.command_until(lambda: commander.began > 0.0 and commander.time > commander.began + 4.0)
    assert commander.commanded > -1e-4, "every command keeps the clearance, to its rest"
    assert commander.clearance > 0.0, "the arm itself keeps it as well"
    assert commander.commanded < 0.025, "it was followed as far as it was safe"
    told = [report for report in commander.reports if report.level == DiagnosticStatus.WARN]
    assert any("the vase" in report.message for report in told)
    assert all(report.level != DiagnosticStatus.ERROR for report in commander.reports)


def test_without_zones_the_same_commander_is_followed_and_without_it_the_arm_rests(commander):
    commander.command_until(lambda: commander.qpos[0] > 1.2)
    commander.wait(lambda: commander.speed < 0.01)
    assert commander.clearance < 0.0, "there the vase would have been"


def test_without_the_filter_the_arm_comes_to_rest(commander):
    commander.command_until(lambda: commander.qpos[0] > 0.3)
    os.kill(commander.processes.pid("safety_filter"), signal.SIGKILL)
    killed = commander.qpos[0]
    began = commander.time
    commander.command_until(lambda: commander.time > began + 2.0)
    assert commander.speed < 0.01
    assert commander.qpos[0] < killed + 0.5
