"""Messages of vision_msgs become the scene of a table: conversion, and the node between a detector and the planner."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState as State
from llm_planner.ros.base_node import LATCHED, SENSOR_DATA
from llm_planner.ros.conversions.geometry_messages import pose_to_msg
from llm_planner.ros.conversions.robot_messages import joint_state_to_msg
from llm_planner.ros.conversions.scene_messages import scene_from_msg
from llm_planner.ros.nodes.detections_node import DetectionsNode, detections_from_msg, labels_from_text
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose, Scene

messages = pytest.importorskip(
    "vision_msgs.msg", reason="vision_msgs is not installed; make setup-dev builds a stand-in"
)

ARM = arm_model("panda")
HOME = np.array(ARM.home)
TOPICS = {"robot": ARM.name, "state_topic": "joint_states", "gripper_state_topic": "joint_states"}
PATIENCE = 30.0  # [s] of wall time: generous, because the machine may be busy
NOWHERE = Pose((0.0, 0.0, 0.0))


def detection(class_id: str, position=(0.5, 0.0, 0.02), size=(0.04, 0.04, 0.04), score=0.9, track="", frame=""):
    one = messages.Detection3D(id=track)
    one.header.frame_id = frame
    one.results = [messages.ObjectHypothesisWithPose()]
    one.results[0].hypothesis.class_id, one.results[0].hypothesis.score = class_id, score
    one.bbox.center = pose_to_msg(Pose(position))
    one.bbox.size.x, one.bbox.size.y, one.bbox.size.z = size
    return one


def picture(*detections, frame: str = ARM.frame, at: float = 1.0):
    found = messages.Detection3DArray(detections=list(detections))
    found.header.frame_id, found.header.stamp.sec = frame, int(at)
    found.header.stamp.nanosec = int(1e9 * (at - int(at)))
    return found


def read(*detections, labels="", least_score=0.5, find_frame=lambda frame, at: NOWHERE):
    return detections_from_msg(picture(*detections), labels_from_text(labels), least_score, find_frame)


def test_a_class_id_counts_as_words_unless_words_are_given_for_it():
    found = read(detection("Red_Block"), detection("17"), detection("0"), labels="17=coffee mug, 0=")
    assert [one.label for one in found] == ["red block", "coffee mug"]


def test_the_best_hypothesis_counts_and_weak_ones_are_left_out():
    both = detection("mug", score=0.3)
    both.results.append(messages.ObjectHypothesisWithPose())
    both.results[1].hypothesis.class_id, both.results[1].hypothesis.score = "vase", 0.6
    assert [one.label for one in read(both, detection("bowl", score=0.4))] == ["vase"]


def test_poses_are_transformed_from_the_frame_of_each_detection():
    frames = {"base": NOWHERE, "camera": Pose((1.0, 0.0, 0.5), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))}
    (one,) = read(detection("mug", (0.2, 0.0, 0.1), frame="camera"), find_frame=lambda frame, at: frames[frame])
    assert one.pose.position == pytest.approx(compose(frames["camera"], Pose((0.2, 0.0, 0.1))).position)
    assert one.pose.position == pytest.approx((1.0, 0.2, 0.6))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (detection("mug", size=(0.0, 0.1, 0.1)), r"detections\[0\]\.bbox\.size is \(0, 0\.1, 0\.1\)"),
        (detection("mug", (math.nan, 0.0, 0.0)), r"detections\[0\]\.bbox\.center\.position"),
        (detection(" "), r"the class_id of detections\[0\] is ' '; it must be a name"),
        (messages.Detection3D(), r"detections\[0\]\.results is empty"),
    ],
)
def test_what_cannot_be_read_is_named(wrong, reason):
    with pytest.raises(InputError, match=reason):
        read(wrong)


@pytest.mark.parametrize("text", ["17", "=cat", "1=cat, 1=dog"])
def test_labels_that_cannot_be_read_are_named(text):
    with pytest.raises(InputError, match="labels has the entry"):
        labels_from_text(text)


class Bench:
    """The node beside a robot at rest with open fingers, and a detector."""

    def __init__(self, here, **parameters: object) -> None:
        overrides = [Parameter(name, value=value) for name, value in {**TOPICS, **parameters}.items()]
        self._here, self.node = here, DetectionsNode("detections", context=here.context, parameter_overrides=overrides)
        self.node.trigger_configure()
        self.node.trigger_activate()
        around = rclpy.create_node("around", context=here.context)
        self.hand, self.scenes = ARM.kinematics().pose(HOME), list[Scene]()
        self.told: list[str] = []
        self.width, self.found = 0.08, [detection("red_block")]
        self._states = around.create_publisher(JointState, "joint_states", SENSOR_DATA)
        self._detections = around.create_publisher(messages.Detection3DArray, "detections", SENSOR_DATA)
        self._widths = around.create_publisher(Float64, "gripper_command", LATCHED)
        around.create_subscription(SceneMsg, "scene", self._on_scene, SENSOR_DATA)
        around.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)
        around.create_timer(0.02, self._on_cycle)
        self._camera = around.create_timer(0.1, self._on_picture)
        here.add(self.node, around)

    def cover_the_lens(self) -> None:
        self._camera.cancel()

    def command(self, width: float) -> None:
        self._widths.publish(Float64(data=width))

    def spin(self, until) -> bool:
        return self._here.spin(until, PATIENCE)

    def _on_scene(self, message: SceneMsg) -> None:
        self.scenes.append(scene_from_msg(message, arm=ARM.name))

    def _on_report(self, message: DiagnosticArray) -> None:
        self.told += [status.message for status in message.status if status.name == "/detections"]

    def _on_cycle(self) -> None:
        state = State(time.time(), HOME, 0.0 * HOME)
        self._states.publish(joint_state_to_msg(state, self.width, ARM))

    def _on_picture(self) -> None:
        self._detections.publish(picture(*self.found, at=time.time()))


def test_it_publishes_the_things_in_the_frame_of_the_arm(here):
    bench = Bench(here)
    assert bench.spin(lambda: bool(bench.scenes))
    scene = bench.scenes[-1]
    assert [(item.name, item.kind, item.color) for item in scene.objects] == [("red block", "block", "red")]
    assert scene.objects[0].position == pytest.approx((0.5, 0.0, 0.02))
    assert scene.robot.position == pytest.approx(bench.hand.position)
    assert scene.held == ""
    assert scene.time == pytest.approx(time.time(), abs=5.0)
    assert bench.spin(lambda: "1 things are known" in bench.told)


def test_a_thing_in_the_closed_hand_is_held_though_the_camera_sees_it_no_more(here):
    bench = Bench(here)
    assert bench.spin(lambda: bool(bench.scenes))
    bench.found = [detection("red_block", bench.hand.position)]
    assert bench.spin(lambda: bench.scenes[-1].objects[0].position[2] > 0.1)
    bench.command(0.028)
    bench.width = 0.04
    assert bench.spin(lambda: bench.scenes[-1].held == "red block")
    bench.found = []
    count = len(bench.scenes)
    assert bench.spin(lambda: len(bench.scenes) > count + 5)
    assert bench.scenes[-1].held == "red block"
    bench.command(0.08)
    bench.width = 0.08
    assert bench.spin(lambda: bench.scenes[-1].held == "")


def test_without_detections_there_is_no_scene_and_it_says_so(here):
    bench = Bench(here, detections_timeout=0.5)
    assert bench.spin(lambda: bool(bench.scenes))
    bench.cover_the_lens()
    assert bench.spin(lambda: any(said.startswith("no detections arrive on detections") for said in bench.told))
    count = len(bench.scenes)
    assert not here.spin(lambda: len(bench.scenes) > count, 1.0)


def test_a_frame_that_nothing_joins_to_the_arm_is_named(here):
    bench = Bench(here)
    bench.found = [detection("red_block", frame="camera")]
    assert bench.spin(lambda: any("camera" in said for said in bench.told))
    assert not bench.scenes


def test_a_mobile_base_is_refused(here):
    node = DetectionsNode("detections", context=here.context, parameter_overrides=[Parameter("robot", value="mobile")])
    here.add(node)
    node.trigger_configure()
    assert "detections make the scene of an arm at a table" in str(node.start_error)
