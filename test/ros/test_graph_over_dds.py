"""The table of the graph says what the nodes really publish, subscribe to, serve and call: no more and no less."""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pytest

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.client import SystemClient, SystemUnreachableError
from llm_planner.ros.node_table import CLIENT, EVERY_NODE, GRAPH, LIFECYCLE, NODES_IN_SIMULATION, Endpoints, endpoints
from llm_planner.ros.run_feed import RunFeed
from llm_planner.ros.security import DISCOVERY_TOPIC, dds_topics
from llm_planner.ros.speech_topics import send_sound

NAMES = [entry.name for entry in NODES_IN_SIMULATION]
MAY_BE_LEFT = {DISCOVERY_TOPIC, "rt/clock", "rt/parameter_events"}  # not in the graph; with use_sim_time; rclcpp's
TIMEOUT = 90.0  # [s] of wall time: generous, because the machine may be busy

# Endpoints that a node has only with certain settings, at certain times or with certain packages.
AT_TIMES = {
    "simulator": endpoints(publishes="/tf /tf_static"),  # where tf2_msgs is installed
    "mpc_controller": endpoints(subscribes="/strips"),  # at a shared table, as of the next two nodes
    "safety_filter": endpoints(  # gripper:=topic
        publishes="gripper_command /strips", subscribes="/strips strips_wanted"
    ),
    "skill_server": endpoints(  # while a skill looks
        publishes="strips_wanted", subscribes="camera/image_raw /strips"
    ),
    "language_planner": endpoints(  # where visualization_msgs is installed, while its markers have a subscriber
        publishes="markers", subscribes="motion_constraints"
    ),
    "correction_listener": endpoints(  # where audio_common_msgs is installed; where the robot speaks
        subscribes="audio_data correction_result transcript"
    ),
    "console": endpoints(subscribes="markers camera/image_raw"),  # where visualization_msgs is; while a page shows it
    "camera": endpoints(  # where tf2_msgs is installed, while its pictures have a subscriber
        publishes="/tf_static", subscribes="joint_states scene"
    ),
}

Topics = tuple[set[str], set[str]]  # written, read


def in_graph(observer, name: str, namespace: str) -> Topics:
    """What the graph shows of a node, as DDS topics; nothing before it has been heard of."""
    if (name, namespace) not in observer.get_node_names_and_namespaces():
        return set(), set()
    written = {f"rt{topic}" for topic, _ in observer.get_publisher_names_and_types_by_node(name, namespace)}
    read = {f"rt{topic}" for topic, _ in observer.get_subscriber_names_and_types_by_node(name, namespace)}
    for service, _ in observer.get_service_names_and_types_by_node(name, namespace):
        written, read = written | {f"rr{service}Reply"}, read | {f"rq{service}Request"}
    for service, _ in observer.get_client_names_and_types_by_node(name, namespace):
        written, read = written | {f"rq{service}Request"}, read | {f"rr{service}Reply"}
    return written, read


def in_table(name: str, namespace: str) -> tuple[Topics, Topics]:
    """What the table says of a node, and what of that may be missing."""
    common = EVERY_NODE if name == CLIENT else EVERY_NODE | LIFECYCLE
    at_times = dds_topics(AT_TIMES.get(name, Endpoints()), namespace, name)
    return dds_topics(GRAPH[name] | common, namespace, name), tuple(set(part) | MAY_BE_LEFT for part in at_times)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    """A mobile robot's nodes in the namespace `second`, and a client."""
    folder, environment = tmp_path_factory.mktemp("rooms"), own_network(random.Random())
    journal = {"journal": str(folder / "journal.sqlite")}
    mobile = {name: {"robot": "mobile"} for name in ("mpc_controller", "safety_filter", "skill_server")}
    kept = {"plan_executor": journal, "language_planner": journal, "correction_listener": {"memory": str(folder / "m")}}
    options = NodeOptions({"simulator": {"world": "rooms"}, **mobile, **kept}, namespace="second")
    with NodeProcesses(NODES_IN_SIMULATION, options, folder / "nodes.log", environment):
        client = SystemClient("second", int(environment["ROS_DOMAIN_ID"]))
        client.wait_for_system(TIMEOUT)
        yield client
        client.close()


@pytest.mark.parametrize("name", NAMES)
def test_each_node_does_what_the_table_says_and_nothing_else(name, system, rooms):
    table, left_out = in_table(name, "")

    def differences() -> list[set[str]]:
        arm, mobile = in_graph(system.client.node, name, "/"), in_graph(rooms.node, name, "/second")
        both = [arm[k] | {topic.replace("/second/", "/", 1) for topic in mobile[k]} for k in (0, 1)]
        return [
            both[0] - table[0],
            both[1] - table[1],
            table[0] - both[0] - left_out[0],
            table[1] - both[1] - left_out[1],
        ]

    with suppress(SystemUnreachableError):
        system.wait(lambda: not any(differences()), 15.0)  # discovery takes a moment
    untold_written, untold_read, unused_written, unused_read = differences()
    assert not untold_written
    assert not untold_read
    assert not unused_written
    assert not unused_read


def test_the_command_line_does_what_the_table_says_and_nothing_else(rooms):
    rooms.watch_scene(lambda scene: None)
    rooms.watch_joints(lambda *state: None)
    rooms.watch_reports(lambda text: None)
    rooms.watch_remarks(lambda answer: None)
    RunFeed(rooms.node, print)
    rooms.parameters("robot")
    rooms.correct("what a nice day")
    send_sound(rooms, [np.zeros(160, np.float32)], lambda text: None)
    (written, read), left_out = in_table(CLIENT, "/second")
    own = in_graph(rooms.node, CLIENT, "/second")
    assert own[0] - written == set()
    assert own[1] - read == set()
    assert written - own[0] - left_out[0] == set()
    assert read - own[1] - left_out[1] == set()
