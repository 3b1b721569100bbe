"""A real run is recorded, the recorder is killed, and what it left is read, recovered and played to other nodes."""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
from pathlib import Path

import pytest
from sensor_msgs.msg import CameraInfo, Image, JointState

pytest.importorskip("mcap_ros2")

from geometry_msgs.msg import TransformStamped
from llm_planner_interfaces.msg import CommandStatus, PlanStatus
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header, String
from tf2_msgs.msg import TFMessage

from llm_planner.cli.processes import NodeOptions, NodeProcesses
from llm_planner.recording.explanation import explained
from llm_planner.recording.reading import Recording
from llm_planner.recording.story import story_of
from llm_planner.recording.writing import RunWriter, Sample, Topic
from llm_planner.ros.base_node import COMMANDS, LATCHED, SENSOR_DATA
from llm_planner.ros.message_types import definition_of, qos_in_yaml
from llm_planner.ros.node_table import NODES, REPLAY_CONTROL, REPLAY_STATUS
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
    states, clocks, plans, told = _listener(here)
    player = Player(Recording(recorded), rate=20.0, domain_id=here.context.get_domain_id())
    try:
        playing = threading.Thread(target=player.play, args=(0.0, lambda heard: None))
        playing.start()
        assert here.spin(lambda: not playing.is_alive() and bool(states and clocks and plans and told), 60.0)
        playing.join()
    finally:
        player.close()
    assert {state.name[0] for state in states} == {states[0].name[0]}
    assert clocks[-1].clock.sec >= clocks[0].clock.sec
    assert any(plan.command == COMMAND for plan in plans)
    assert "<robot" in told[0].data, "latched ones reach late listeners"


def test_a_viewer_pauses_goes_back_and_sees_all_that_held_there(recorded, here):
    _, events = story_of(Recording(recorded))
    began = next(Recording(recorded).messages()).time
    marks = [(event.time, event.text) for event in events]
    (second,) = (at - began for at, text in marks if text.startswith("step 2") and text.endswith("running"))
    statuses, said, plans = [], [], _listener(here)[2]
    viewer = Node("viewer", context=here.context)
    viewer.create_subscription(
        String, REPLAY_STATUS, lambda message: statuses.append(json.loads(message.data)), LATCHED
    )
    viewer.create_subscription(CommandStatus, "command_status", said.append, COMMANDS)
    control = viewer.create_publisher(String, REPLAY_CONTROL, 10)
    here.add(viewer)
    player = Player(Recording(recorded), 50.0, here.context.get_domain_id())
    playing = threading.Thread(target=player.play, args=(0.0, lambda heard: None, True))
    playing.start()
    try:
        assert here.spin(lambda: statuses and statuses[-1]["paused"], 60.0), "it waits at the end"
        assert [text for _, text in statuses[-1]["marks"]] == [text for _, text in marks]
        said.clear()
        control.publish(String(data=json.dumps({"to": second + 0.05})))
        assert here.spin(lambda: statuses[-1]["jumps"] == 2 and said and plans[-1].state == PlanStatus.RUNNING, 60.0)
        assert said[0].command == COMMAND, "what was said before is said again"
        assert statuses[-1]["at"] == pytest.approx(second + 0.05, abs=0.02), "it is still paused"
        for wrong in ('{"to": "there"}', "[]", '{"rate": 1000}', '{"to": NaN}'):
            control.publish(String(data=wrong))
        control.publish(String(data='{"paused": false}'))
        assert here.spin(lambda: statuses[-1]["paused"] and statuses[-1]["at"] == statuses[-1]["length"], 60.0)
    finally:
        player.end()
        playing.join()
        player.close()


def test_static_transforms_of_several_publishers_are_played_from_any_time(here, tmp_path):
    file, kind, frames = tmp_path / "recording.mcap", "tf2_msgs/msg/TFMessage", []
    writer = RunWriter(file, 2**24, {}, shared=False)
    for second, frame in enumerate(("hand", "camera", "late")):
        sample = Sample(serialize_message(TFMessage(transforms=[_placed(frame)])), second * 10**9, second * 10**9)
        writer.write(Topic("/tf_static", kind, definition_of(kind), qos_in_yaml(LATCHED), True), sample)
    writer.close()
    listener = Node("listener", context=here.context)
    many = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listener.create_subscription(
        TFMessage, "/tf_static", lambda message: frames.append(message.transforms[0].child_frame_id), many
    )
    here.add(listener)
    player = Player(Recording(file), 50.0, here.context.get_domain_id())
    try:
        player.play(1.5, lambda heard: None)
        assert here.spin(lambda: frames == ["hand", "camera", "late"])
    finally:
        player.close()


def _placed(frame: str) -> TransformStamped:
    return TransformStamped(header=Header(frame_id="base"), child_frame_id=frame)


def test_pictures_are_recorded_with_the_parameters_of_the_camera(here, tmp_path):
    file, camera = tmp_path / "recording.mcap", Node("camera", context=here.context)
    pictures = camera.create_publisher(Image, "camera/image_raw", 2)
    parameters = camera.create_publisher(CameraInfo, "camera/camera_info", 2)

    def show() -> None:
        header = Header(frame_id="lens")
        pictures.publish(Image(header=header, height=2, width=2, encoding="rgb8", step=6, data=bytes(12)))
        parameters.publish(CameraInfo(header=header, height=2, width=2))

    camera.create_timer(0.05, show)
    here.add(camera)
    options = NodeOptions({"recorder": {"file": str(file), "picture_rate": "5.0"}})
    environment = {"ROS_DOMAIN_ID": str(here.context.get_domain_id())}
    wanted = {"/camera/image_raw/compressed", "/camera/camera_info"}

    def recorded() -> set[str]:
        return {heard.topic.name for heard in Recording(file).messages()} if file.exists() else set()

    with NodeProcesses(RECORDER, options, tmp_path / "log", environment):
        assert here.spin(lambda: recorded() >= wanted, TIMEOUT)


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
