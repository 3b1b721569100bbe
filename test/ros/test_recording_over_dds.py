"""A real run is recorded, the recorder is killed, and what it left is read, recovered and played to other nodes."""

from __future__ import annotations

import os
import signal
import stat
import threading
from pathlib import Path

import pytest
from sensor_msgs.msg import JointState

pytest.importorskip("mcap_ros2")

from llm_planner_interfaces.msg import PlanStatus
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from llm_planner.cli.processes import NodeOptions, NodeProcesses
from llm_planner.recording.reading import Recording
from llm_planner.recording.story import explained, story_of
from llm_planner.ros.base_node import LATCHED, SENSOR_DATA
from llm_planner.ros.node_table import NODES
from llm_planner.ros.recordings import Player, is_played

RECORDER = [entry for entry in NODES if entry.name == "recorder"]
TIMEOUT = 60.0  # [s] of wall time
COMMAND = "put the red block in the green bowl"
EXPECTED = {
    "/joint_states", "/scene", "/clock", "/tf", "/tf_static", "/robot_description", "/plan", "/plan_status",
    "/command_status", "/correction_result", "/forecast", "/model_exchange", "/diagnostics", "/rosout", "/markers",
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(system, tmp_path_factory) -> Path:
    """The file that a recorder left which was killed after a command and a correction."""
    folder = tmp_path_factory.mktemp("recorded")
    file = folder / "recording.mcap"
    options = NodeOptions({"recorder": {"file": str(file)}}, use_sim_time=True)
    system.reset()

    def listens(topic: str) -> bool:
        known = system.client.node.get_subscriptions_info_by_topic(topic)
        return any(one.node_name == "recorder" for one in known)

    with NodeProcesses(RECORDER, options, folder / "log", system.environment) as processes:
        once = ("/command_status", "/correction_result", "/model_exchange")  # not latched
        system.wait(lambda: file.exists() and all(map(listens, once)), TIMEOUT)
        running = system.start(COMMAND)
        system.client.correct("slower")
        assert system.finish(running).succeeded
        size = file.stat().st_size
        system.wait(lambda: file.stat().st_size > size + 20_000, TIMEOUT)  # the end of the command is on the disk
        os.kill(processes.pid("recorder"), signal.SIGKILL)
        processes.wait_for_death(TIMEOUT)
    return file


def test_a_killed_recorder_leaves_every_topic_readable(recorded):
    assert not Recording(recorded).is_whole
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o600
    counts = dict.fromkeys(EXPECTED, 0)
    for heard in Recording(recorded).messages():
        assert heard.message is not None, "its schema reads it"
        counts[heard.topic.name] = counts.get(heard.topic.name, 0) + 1
    assert not [name for name in EXPECTED if not counts[name]]
    assert counts["/joint_states"] > 100
    assert "/joint_command" not in counts


def test_it_tells_the_story_and_explains_the_steps(recorded):
    story, events = story_of(Recording(recorded))
    texts = [event.text for event in events]
    assert f"command “{COMMAND}”" in texts
    assert any(text.startswith("correction “slower” applied") for text in texts)
    assert "the red block is in the green bowl" in explained(story, "2")
    assert "“slower”" in explained(story, "2")


def test_once_recovered_other_readers_of_mcap_take_it(recorded, tmp_path):
    copy = tmp_path / "recording.mcap"
    copy.write_bytes(recorded.read_bytes())
    Recording(copy).recover()
    with copy.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        names = {channel.topic for channel in reader.get_summary().channels.values()}
        assert names >= EXPECTED
        (description,) = reader.iter_decoded_messages(topics=["/robot_description"])
    assert "<robot" in description.decoded_message.data


def test_it_is_played_to_nodes_of_another_domain_with_its_clock_and_commands_no_robot(recorded, here):
    recording = Recording(recorded)
    states, clocks, plans, told = _listener(here)
    player = Player(rate=20.0, domain_id=here.context.get_domain_id())
    try:
        topics = {heard.topic for heard in recording.messages()}
        player.announce(topics)
        playing = threading.Thread(target=player.play, args=(recording.messages(), lambda heard: None))
        playing.start()
        assert here.spin(lambda: not playing.is_alive() and bool(states and clocks and plans and told), 60.0)
        playing.join()
    finally:
        player.close()
    assert {state.name[0] for state in states} == {states[0].name[0]}
    assert clocks[-1].clock.sec >= clocks[0].clock.sec
    assert any(plan.command == COMMAND for plan in plans)
    assert "<robot" in told[0].data, "latched ones reach late listeners"


def _listener(here) -> tuple[list, list, list, list]:
    node, heard = Node("listener", context=here.context), ([], [], [], [])
    node.create_subscription(JointState, "joint_states", heard[0].append, SENSOR_DATA)
    node.create_subscription(Clock, "/clock", heard[1].append, SENSOR_DATA)
    node.create_subscription(PlanStatus, "plan_status", heard[2].append, LATCHED)
    node.create_subscription(String, "robot_description", heard[3].append, LATCHED)
    here.add(node)
    return heard


@pytest.mark.parametrize(
    "topic",
    ["/joint_command", "/left/cmd_vel", "/motion_reference", "/motion_patch", "/language_command", "/correction",
     "/gripper_command", "/stop"],
)  # fmt: skip
def test_what_moves_a_robot_or_is_taken_for_words_is_never_played(topic):
    assert not is_played(topic)


@pytest.mark.parametrize("topic", ["/joint_states", "/tf", "/plan_status", "/markers", "/left/scene"])
def test_what_shows_the_run_is_played(topic):
    assert is_played(topic)
