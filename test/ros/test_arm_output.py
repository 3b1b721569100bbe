"""Commands leave as the robot's controllers take them; the node is a fake that keeps what is published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.formulation import StartState, integrate
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState
from llm_planner.ros.filtered_robots import ArmOutput
from llm_planner.ros.robot_topics import OUTPUT_SETTINGS
from test.ros.fake_node import FakeNode

PANDA = arm_model("panda")

FR3 = arm_model("fr3")
DEFAULTS = {setting.name: setting.default for setting in OUTPUT_SETTINGS}
ZERO = np.zeros(7)
# From rest: half a second of speeding up at 1 rad/s^2, half a second of braking.
PLAN = integrate(StartState(ZERO, ZERO, ZERO), np.repeat([[1.0], [-1.0]], 7, axis=1), 10.0, 0.5, 0.04)


def state(qpos: float) -> JointState:
    return JointState(9.98, np.full(7, qpos), ZERO)


def test_the_simulator_takes_the_arm_and_a_finger_in_one_trajectory():
    node = FakeNode({}, DEFAULTS)
    ArmOutput(node, PANDA).send(PLAN, state(0.0), 10.0)
    (sent,) = node.sent["joint_command"]
    message = deserialize_message(sent, JointTrajectoryMsg)
    assert message.joint_names == [*PANDA.joints, PANDA.fingers[0]]
    assert "gripper_command" not in node.kinds


def test_a_joint_trajectory_controller_gets_its_joints_alone_and_a_plan_that_ends_at_rest():
    topic = "/fr3_arm_controller/joint_trajectory"
    node = FakeNode({"command_topic": topic, "gripper": "topic"}, DEFAULTS)
    ArmOutput(node, FR3).send(PLAN, state(0.0), 10.0)
    (sent,) = node.sent[topic]
    message = deserialize_message(sent, JointTrajectoryMsg)
    assert node.kinds == {topic: JointTrajectoryMsg, "gripper_command": Float64}
    assert message.joint_names == list(FR3.joints)
    assert [len(point.positions) for point in message.points] == [7, 7, 7]
    assert list(message.points[-1].velocities) == [0.0] * 7
    assert message.points[-1].time_from_start.sec == 1


def test_a_position_controller_gets_where_the_joints_are_to_be_now():
    topic = "/forward_position_controller/commands"
    node = FakeNode({"command_interface": "position", "command_topic": topic, "gripper": "topic"}, DEFAULTS)
    ArmOutput(node, FR3).send(PLAN, state(0.0), 10.5)
    assert node.kinds[topic] is Float64MultiArray
    assert list(node.sent[topic][0].data) == pytest.approx([0.125] * 7)


def test_a_velocity_controller_is_led_back_to_the_plan_within_the_limits():
    node = FakeNode({"command_interface": "velocity", "gripper": "topic"}, DEFAULTS)
    output = ArmOutput(node, FR3)
    output.send(PLAN, state(0.0), 10.5)
    output.send(PLAN, state(-0.02), 10.5)
    output.send(PLAN, state(-1.0), 10.5)
    output.send(PLAN, state(0.0), 11.0)
    on_plan, behind, far_behind, ended = (np.array(message.data) for message in node.sent["joint_command"])
    assert on_plan == pytest.approx(np.full(7, 0.5))
    assert behind == pytest.approx(np.full(7, 0.6))
    assert far_behind == pytest.approx(FR3.limits.qvel_max)
    assert ended == pytest.approx(ZERO)


@pytest.mark.parametrize(
    ("robot", "topic"),
    [
        ("fr3", "fr3_arm_controller/joint_trajectory"),
        ("ur5e", "scaled_joint_trajectory_controller/joint_trajectory"),
        ("xarm7", "xarm7_traj_controller/joint_trajectory"),
        ("panda", "panda_arm_controller/joint_trajectory"),
    ],
)
def test_a_real_arm_is_commanded_by_the_controller_of_its_robot_yaml(robot, topic):
    node = FakeNode({"simulator": False}, DEFAULTS)
    ArmOutput(node, arm_model(robot))
    assert node.kinds == {topic: JointTrajectoryMsg, "gripper_command": Float64}


def test_another_interface_has_the_topic_of_its_kind_of_controller():
    node = FakeNode({"simulator": False, "command_interface": "position"}, DEFAULTS)
    ArmOutput(node, FR3)
    assert node.kinds == {"fr3_arm_controller/commands": Float64MultiArray, "gripper_command": Float64}


def test_the_grippers_width_is_told_once_and_only_if_it_is_a_number():
    node = FakeNode({"gripper": "topic"}, DEFAULTS)
    output = ArmOutput(node, FR3)
    for width in (float("nan"), 0.04, 0.04, float("nan"), 0.08):
        output.send(replace(PLAN, gripper_width=width), state(0.0), 10.0)
    assert [message.data for message in node.sent["gripper_command"]] == [0.04, 0.08]


def test_a_width_cannot_go_with_positions():
    message = "cannot go with the joints' position; set the parameter gripper to topic"
    with pytest.raises(InputError, match=message):
        ArmOutput(FakeNode({"command_interface": "position"}, DEFAULTS), FR3)
