"""Two mobile bases in one building, as processes over real DDS: each has its commands, and no room has two robots."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import String

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES_IN_SIMULATION, nodes_of
from llm_planner.ros.strip_feed import TOPIC
from test.ros.side_by_side import TIMEOUT, Robot

WORLD = """
robot: mobile
robots:
  left: {x: -3.0, y: 0.0}
  right: {x: 3.0, y: 0.0, yaw: 3.1416}
rooms:
  - {name: library, x: [-4.5, -1.5], y: [-1.5, 1.5]}
  - {name: hall, x: [-1.5, 1.5], y: [-1.5, 1.5]}
  - {name: lab, x: [1.5, 4.5], y: [-1.5, 1.5]}
doors:
  - {between: [library, hall], x: -1.5, y: 0.0}
  - {between: [hall, lab], x: 1.5, y: 0.0}
objects:
  - {name: mug, x: -3.6, y: 0.9}
  - {name: plant, x: 3.9, y: 1.0}
"""
PROGRAMS = """
bring the mug to the hall: |
  pick_up("mug")
  go_to("hall")
  drop_off()
go to the hall: go_to("hall")
go to the lab: go_to("lab")
go to the library: go_to("library")
"""


@dataclass
class Base(Robot):
    """Client of one base, and what it has seen last."""

    touched: str = ""  # physics steps in which bases touched, as the simulator reports

    def on_reports(self, reports: DiagnosticArray) -> None:
        for value in (value for status in reports.status for value in status.values):
            if value.key == "steps_in_contact":
                self.touched = value.value

    @property
    def room(self) -> str:
        return self.scene.robot_room


@dataclass
class Building:
    left: Base
    right: Base


@pytest.fixture(scope="module")
def building(tmp_path_factory) -> Iterator[Building]:
    folder = tmp_path_factory.mktemp("building")
    world, script = folder / "building.yaml", folder / "programs.yaml"
    world.write_text(WORLD, encoding="utf-8")
    script.write_text(PROGRAMS, encoding="utf-8")
    environment = own_network(random.Random()) | {"ROS_HOME": str(folder / "home")}
    wanted = [entry for entry in NODES_IN_SIMULATION if entry.name not in ("camera", "correction_listener")]
    entries = nodes_of(("left", "right"), wanted)
    planner = {"model": "scripted", "model_script": str(script), "patience": "60.0", "scene_timeout": "5.0"}
    parameters = {
        "simulator": {"world": str(world), "real_time_factor": "1.0"},
        "language_planner": planner,
        "plan_executor": {"scene_timeout": "5.0"},
    }
    for entry in entries:
        if entry.of_robot:
            parameters[entry.label] = {"robot": "mobile", "table": str(world)}
    with NodeProcesses(entries, NodeOptions(parameters), folder / "nodes.log", environment) as processes:
        bases = []
        for name in ("left", "right"):
            client = SystemClient(name, int(environment["ROS_DOMAIN_ID"]), "mobile")
            base = Base(client, processes)
            client.watch_scene(base.on_scene)
            client.node.create_subscription(String, TOPIC, base.on_reserved, LATCHED)
            client.node.create_subscription(DiagnosticArray, "/diagnostics", base.on_reports, 10)
            bases.append(base)
        for base in bases:
            base.client.wait_for_system(TIMEOUT, base.all_alive)
            base.wait(lambda base=base: base.scene is not None and len(base.reserved) == 2)
        yield Building(*bases)
        for base in bases:
            base.client.close()


def test_an_idle_base_has_the_room_where_it_stands(building):
    building.left.wait(lambda: building.left.reserved == {"left": {"library"}, "right": {"lab"}})
    assert (building.left.room, building.right.room) == ("library", "lab")


def test_both_see_the_same_things_in_the_frame_of_the_map(building):
    left, right = building.left.scene.find("mug"), building.right.scene.find("mug")
    assert left.position == pytest.approx(right.position, abs=0.005)


def test_a_base_waits_until_the_other_one_has_left_the_room(building):
    bring = building.left.submit("bring the mug to the hall")
    building.left.wait(lambda: building.left.room == "hall" or bring.is_done)
    go = building.right.submit("go to the hall")
    building.left.wait(lambda: bring.is_done)
    assert bring.result.succeeded, bring.result.message
    assert (building.right.room, go.is_done) == ("lab", False)
    assert building.left.say("go to the library").succeeded
    building.right.wait(lambda: go.is_done)
    assert go.result.succeeded, go.result.message
    assert building.right.room == "hall"
    mug = building.right.scene.find("mug")
    assert building.right.scene.building.room_at(*mug.position[:2]) == "hall"


def test_a_base_that_waits_says_so_and_one_that_is_stopped_lets_the_other_one_go_on(building):
    waits = building.left.submit("go to the lab")
    building.left.wait(lambda: "wait for the hall, which right has" in building.left.told)
    assert building.left.client.stop("a test").was_running
    building.left.wait(lambda: waits.is_done)
    assert not waits.result.succeeded
    result = building.right.say("go to the lab")
    assert result.succeeded, result.message


def test_the_bases_never_touched(building):
    building.left.wait(lambda: building.left.touched)
    assert building.left.touched == "0"
