"""What skills observe of an arm: joints from one topic, the gripper's width from the same or from another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.controllers import Controllers, GripperController, GripperEnd
from llm_planner.ros.observed_robots import ObservedArm
from test.ros.fake_node import FakeNode

FR3, UR5E = arm_model("fr3"), arm_model("ur5e")
KNUCKLE = GripperController(
    action="g", open=GripperEnd(width=0.085, position=0.0), closed=GripperEnd(width=0.0, position=0.8), joint="knuckle"
)


class Watching(FakeNode):
    """A node with a clock of its own."""

    now: float = 0.0

    def observed(self, arm: ArmModel) -> ObservedArm:
        self.defaults = {"simulator": False, "state_timeout": 1.0}
        return ObservedArm(self, arm, lambda: self.now)


def states(arm: ArmModel, **more: float) -> JointState:
    names = [*arm.joints, *more]
    return JointState(name=names, position=[*arm.home, *more.values()], velocity=[0.0] * len(names))


def test_a_gripper_with_a_topic_of_its_own_is_read_there():
    node = Watching({})
    robot = node.observed(FR3)
    assert robot.topic == "franka/joint_states"
    node.heard["franka_gripper/joint_states"](JointState(name=[*FR3.fingers], position=[0.02, 0.021]))
    assert robot.state(states(FR3)).width == pytest.approx(0.041)


def test_a_width_that_is_not_heard_any_more_is_no_width():
    node = Watching({})
    robot = node.observed(FR3)
    assert np.isnan(robot.state(states(FR3)).width)
    node.heard["franka_gripper/joint_states"](JointState(name=[*FR3.fingers], position=[0.02, 0.02]))
    assert robot.flaw == ""
    node.now = 1.5
    assert np.isnan(robot.state(states(FR3)).width)
    assert robot.flaw == "no states of fr3_finger_joint1, fr3_finger_joint2 on franka_gripper/joint_states"


def test_states_of_others_on_the_grippers_topic_are_passed_over():
    node = Watching({})
    robot = node.observed(FR3)
    node.heard["franka_gripper/joint_states"](JointState(name=["wheel"], position=[7.0]))
    assert np.isnan(robot.state(states(FR3)).width)


def test_a_driven_joint_gives_the_width():
    arm = replace(UR5E, controllers=Controllers(gripper=KNUCKLE))
    robot = Watching({}).observed(arm)
    assert robot.topic == "joint_states"
    assert robot.state(states(arm, knuckle=0.4)).width == pytest.approx(0.0425)


def test_an_arm_whose_gripper_has_never_been_heard_moves_nothing_and_says_where_it_was_expected():
    robot = Watching({}).observed(UR5E)
    assert np.isnan(robot.state(states(UR5E)).width)  # the arm itself is there
    assert "no states of finger_joint1, finger_joint2 on joint_states" in robot.obstacle
    assert "gripper_state_topic" in robot.obstacle
    assert "fingers: []" in robot.obstacle
    robot.state(states(UR5E, finger_joint1=0.02, finger_joint2=0.02))
    assert robot.obstacle == ""


def test_a_gripper_that_is_late_is_a_flaw_but_no_obstacle():
    node = Watching({})
    robot = node.observed(UR5E)
    robot.state(states(UR5E, finger_joint1=0.02, finger_joint2=0.02))
    node.now = 1.5
    assert np.isnan(robot.state(states(UR5E)).width)
    assert robot.flaw
    assert robot.obstacle == ""


def test_an_arm_that_says_it_has_no_finger_states_needs_none():
    robot = Watching({}).observed(replace(UR5E, fingers=()))
    assert np.isnan(robot.state(states(UR5E)).width)
    assert robot.flaw == robot.obstacle == ""


def test_the_simulated_gripper_has_fingers_whatever_the_real_one_has():
    arm = replace(UR5E, controllers=Controllers(gripper=KNUCKLE))
    robot = Watching({"simulator": True}).observed(arm)
    assert robot.state(states(arm, finger_joint1=0.02, finger_joint2=0.02)).width == pytest.approx(0.04)


def test_parameters_win_over_the_file():
    node = Watching({"state_topic": "lab/states", "gripper_state_topic": "lab/fingers"})
    assert node.observed(FR3).topic == "lab/states"
    assert list(node.heard) == ["lab/fingers"]
