"""An arm that is not the Panda, as processes over real DDS: simulator, controller and safety filter move its hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import dist

import pytest
import rclpy
from llm_planner_interfaces.msg import MotionConstraints, MotionPatch, MotionReference
from llm_planner_interfaces.msg import Scene as SceneMsg
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, PATCHES, SENSOR_DATA
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.motion_messages import patch_to_msg, reference_to_msg
from llm_planner.ros.node_table import NODES
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Shape, Zone

TIMEOUT = 60.0  # [s] of wall time: generous, because the machine may be busy
UR5E = arm_model("ur5e")
PERIOD = 0.1  # [s] between two motion references


@dataclass
class Commander:
    """Sends motion references, and keeps what the nodes publish."""

    client: SystemClient
    scene: Scene | None = None
    frames: set[str] = field(default_factory=set)
    joints: set[tuple[str, ...]] = field(default_factory=set)
    constraints: MotionConstraints | None = None
    sent: float = 0.0  # [s] the robot's time

    def on_scene(self, scene: Scene) -> None:
        self.scene = scene

    def on_message(self, message: SceneMsg | JointStateMsg) -> None:
        self.frames.add(message.header.frame_id)

    def on_command(self, message: JointTrajectory) -> None:
        self.joints.add(tuple(message.joint_names))

    def on_constraints(self, message: MotionConstraints) -> None:
        self.constraints = message

    @property
    def hand(self) -> Pose:
        return self.scene.robot

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT)

    def move_to(self, target: Pose) -> None:
        """Lead the hand to `target`."""
        skill_server = rclpy.create_node("skill_server", context=self.client.node.context)
        references = skill_server.create_publisher(MotionReference, "motion_reference", 1)

        def lead() -> bool:
            now = self.scene.time
            if now > self.sent + PERIOD:
                references.publish(reference_to_msg(Reference(now, 0.05, (target,), 0.08, epoch=1), UR5E.base))
                self.sent = now
            return dist(self.hand.position, target.position) < 0.003

        self.wait(lead)
        skill_server.destroy_node()


@pytest.fixture(scope="module")
def commander(tmp_path_factory) -> Iterator[Commander]:
    environment = own_network(random.Random())
    entries = [entry for entry in NODES if entry.name in ("simulator", "mpc_controller", "safety_filter")]
    parameters = {entry.name: {"robot": "ur5e"} for entry in entries}
    parameters["simulator"] |= {"objects": "mug"}
    log = tmp_path_factory.mktemp("ur5e") / "nodes.log"
    with NodeProcesses(entries, NodeOptions(parameters), log, environment):
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]), robot="ur5e")
        commander = Commander(client)
        client.watch_scene(commander.on_scene)
        client.node.create_subscription(SceneMsg, "scene", commander.on_message, SENSOR_DATA)
        client.node.create_subscription(JointStateMsg, "joint_states", commander.on_message, SENSOR_DATA)
        client.node.create_subscription(JointTrajectory, "joint_command", commander.on_command, NEWEST_ONLY)
        client.node.create_subscription(MotionConstraints, "motion_constraints", commander.on_constraints, LATCHED)
        commander.wait(lambda: commander.scene is not None and commander.constraints is not None and commander.joints)
        yield commander
        client.close()


def test_a_motion_reference_moves_the_hand_under_the_names_and_the_frame_of_the_arm(commander):
    home = commander.hand
    x, y, z = home.position
    commander.move_to(replace(home, position=(x, y + 0.1, z)))
    assert commander.scene.arm == "ur5e"
    assert commander.frames == {"base_link"}
    assert {names[:6] for names in commander.joints} == {UR5E.joints}


def test_a_zone_counts_in_the_frame_of_the_arm_alone(commander):
    patches = commander.client.node.create_publisher(MotionPatch, "motion_patch", PATCHES)
    commander.wait(lambda: patches.get_subscription_count() == 2)
    vase = Zone("the vase", Shape.SPHERE, (0.05,), Pose((0.3, -0.5, 0.1)))
    now = commander.scene.time
    patches.publish(patch_to_msg(Patch("here", now, now + 60.0, zones=(vase,)), "base_link"))
    patches.publish(patch_to_msg(Patch("elsewhere", now, now + 60.0, zones=(vase,)), "panda_link0"))
    refusal = "elsewhere: its zones are in the frame 'panda_link0'; those of this robot are in 'base_link'"
    commander.wait(lambda: refusal in commander.constraints.refused and len(commander.constraints.zones) == 1)
    commander.client.node.destroy_publisher(patches)
