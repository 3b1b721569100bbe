"""A mobile robot as real processes: it fetches over cmd_vel and odom, and stops when whatever moves it dies."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES_IN_SIMULATION
from llm_planner.scene.scene import Scene

PROGRAMS = """
fetch: |
  go_to("mug")
  pick_up("mug")
  go_to("lobby")
  drop_off()
rest: wait(0)
tour: |
  for person in objects("person"):
      go_to(person)
"""
TIMEOUT = 90.0  # [s] of wall time: generous, because the machine may be busy
SPEED = 2.0  # simulated seconds a wall second


@dataclass
class RoomsSystem:
    """The running nodes, a client, and what it has heard."""

    processes: NodeProcesses
    client: SystemClient
    scenes: list[Scene] = field(default_factory=list)
    odometry: list[Odometry] = field(default_factory=list)
    velocities: list[TwistStamped] = field(default_factory=list)

    @property
    def scene(self) -> Scene:
        return self.scenes[-1]

    @property
    def commanded(self) -> float:
        """Largest number of the last velocity."""
        twist = self.velocities[-1].twist
        return max(abs(twist.linear.x), abs(twist.linear.y), abs(twist.angular.z))

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT)


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> Iterator[RoomsSystem]:
    """All nodes but the camera, in a building with a mug and three people; those that die are started again."""
    folder = tmp_path_factory.mktemp("rooms")
    script = folder / "programs.yaml"
    script.write_text(PROGRAMS, encoding="utf-8")
    environment = own_network(random.Random())
    journal = {"journal": str(folder / "journal.sqlite")}
    mobile = {"robot": "mobile"}
    options = NodeOptions(
        {
            "simulator": {
                "world": "rooms", "seed": "3", "objects": "mug, Anna, Ben, Clara", "real_time_factor": str(SPEED),
            },
            "mpc_controller": mobile,
            "safety_filter": mobile,
            "skill_server": mobile,
            "plan_executor": journal,
            "language_planner": {"model": "scripted", "model_script": str(script), **journal},
        }
    )  # fmt: skip
    entries = [entry for entry in NODES_IN_SIMULATION if entry.name != "camera"]
    with NodeProcesses(entries, options, folder / "nodes.log", environment) as processes:
        threading.Thread(target=processes.supervise, args=(lambda told: None,), daemon=True).start()
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        running = RoomsSystem(processes, client)
        client.watch_scene(running.scenes.append)
        for kind, topic, heard in ((Odometry, "odom", running.odometry), (TwistStamped, "cmd_vel", running.velocities)):
            client.node.create_subscription(kind, topic, heard.append, qos_profile_sensor_data)
        client.wait_for_system(TIMEOUT)
        running.wait(lambda: running.scenes and running.odometry and running.velocities)
        yield running
        client.close()


@pytest.fixture
def system(started) -> RoomsSystem:
    """It, once a command succeeds: commands are taken a moment before all nodes have met."""
    started.wait(lambda: started.client.execute("rest", lambda progress: None).succeeded)
    return started


def under_way(system):
    submission = system.client.submit("tour")
    system.wait(lambda: system.scene.speed > 0.5 or submission.is_done)
    assert not submission.is_done, submission.result.message
    return submission


def seconds(stamp) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


def test_the_robot_fetches_a_mug_and_without_a_skill_server_the_controller_commands_a_stop(system):
    result = system.client.execute("fetch", lambda progress: None)
    assert result.succeeded, result.message
    assert system.scene.building.room_at(*system.scene.find("mug").position[:2]) == "lobby"
    assert (system.scene.robot_room, system.scene.held) == ("lobby", "")

    under_way(system)
    system.processes.process("skill_server").send_signal(signal.SIGKILL)
    system.wait(lambda: system.commanded == 0.0)
    system.wait(lambda: system.scene.speed < 0.01)
    heard = len(system.velocities)
    system.wait(lambda: len(system.velocities) > heard + 3)
    assert system.commanded == 0.0, "and goes on saying so"


def test_a_base_that_hears_nothing_stops_by_itself(system):
    under_way(system)
    system.processes.process("mpc_controller").send_signal(signal.SIGKILL)
    before = len(system.odometry)

    def stops() -> list[Odometry]:
        return [message for message in system.odometry[before:] if abs(message.twist.twist.linear.x) < 0.01]

    system.wait(lambda: bool(stops()))
    stopped = stops()[0]
    assert seconds(stopped.header.stamp) - seconds(system.odometry[before - 1].header.stamp) < 1.5
