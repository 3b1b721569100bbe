"""Which topics a recorder takes, with which definitions, and how pictures are kept."""

from __future__ import annotations

import io

import numpy as np
import pytest
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

pytest.importorskip("mcap_ros2")
pytest.importorskip("PIL")

from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory
from PIL import Image as Picture
from rclpy.serialization import serialize_message

from llm_planner.errors import InputError
from llm_planner.ros.conversions.camera_messages import image_to_msg
from llm_planner.ros.message_types import definition_of, message_type, qos_in_yaml
from llm_planner.ros.node_table import is_recorded
from llm_planner.ros.nodes.recorder_node import _compressed


@pytest.mark.parametrize(
    ("topic", "namespace", "recorded"),
    [
        ("/scene", "/", True),
        ("/tf", "/left", True),
        ("/rosout", "/", True),
        ("/correction", "/", True),
        ("/left/scene", "/", True),  # of a robot at a shared table
        ("/left/scene", "/left", True),
        ("/right/scene", "/left", False),
        ("/scene", "/left", False),
        ("/camera/image_raw", "/", False),  # a camera draws only while somebody listens
        ("/joint_command", "/", False),
        ("/audio", "/", False),
        ("/a_strangers_topic", "/", False),
    ],
)
def test_topics_of_the_system_are_recorded_and_no_others(topic, namespace, recorded):
    assert is_recorded(topic, namespace) is recorded


@pytest.mark.parametrize(
    "name",
    ["llm_planner_interfaces/msg/PlanStatus", "llm_planner_interfaces/msg/Scene", "sensor_msgs/msg/JointState",
     "diagnostic_msgs/msg/DiagnosticArray", "rcl_interfaces/msg/Log", "trajectory_msgs/msg/JointTrajectory"],
)  # fmt: skip
def test_a_definition_reads_what_ros_has_serialised(name):
    kind = message_type(name)
    schema = Schema(id=1, name=name, encoding="ros2msg", data=definition_of(name).encode())
    read = DecoderFactory().decoder_for("cdr", schema)(serialize_message(kind()))
    assert set(kind.get_fields_and_field_types()) <= set(dir(read))


def test_a_type_that_is_not_installed_is_named():
    with pytest.raises(InputError, match=r"share/strange_msgs/msg/Thing.msg is installed below"):
        definition_of("strange_msgs/msg/Thing")
    with pytest.raises(InputError, match="the message type strange_msgs/msg/Thing is not installed"):
        message_type("strange_msgs/msg/Thing")


def test_quality_of_service_is_written_as_rosbag2_reads_it():
    offered = QoSProfile(depth=7, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
    (told,) = yaml.safe_load(qos_in_yaml(offered))
    assert (told["history"], told["depth"]) == ("keep_last", 7)
    assert (told["reliability"], told["durability"]) == ("reliable", "transient_local")
    assert told["deadline"] == {"sec": 9223372036, "nsec": 854775807}


def test_pictures_are_kept_as_jpeg_with_their_stamp():
    message = image_to_msg(np.full((48, 64, 3), 90, np.uint8), 5.0, "camera")
    kept = _compressed(message)
    picture = np.asarray(Picture.open(io.BytesIO(bytes(kept.data))))
    assert kept.format == "jpeg"
    assert kept.header == message.header
    assert picture.shape == (48, 64, 3)
    np.testing.assert_allclose(picture, 90, atol=2)
