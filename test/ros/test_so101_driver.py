"""The driver of an SO-101 follows trajectories and widths on a bus like LeRobot's, in degrees and percent."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.formulation import StartState, integrate
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.controllers import Controllers
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.conversions.robot_messages import joint_state_from_msg, trajectory_to_msg

DRIVER = run_path(str(Path(__file__).parents[2] / "examples" / "ros" / "so101_driver.py"))["So101Driver"]
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")  # as lerobot names the motors
ARM = replace(arm_model("ur5e"), joints=JOINTS, controllers=Controllers())
PATIENCE = 20.0  # [s] of wall time: generous, because the machine may be busy


@dataclass
class FakeFollower:
    """Has the keys and units of lerobot's SOFollower, and motors that are at once where they are sent."""

    at: dict[str, float] = field(default_factory=lambda: {f"{name}.pos": 0.0 for name in (*JOINTS, "gripper")})

    def get_observation(self) -> dict[str, float]:
        return dict(self.at)

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        assert action.keys() <= self.at.keys()
        self.at.update(action)
        return action


@pytest.fixture
def lab(here):
    """The driver, what it publishes, and publishers of its commands."""
    follower, states = FakeFollower(), list[JointState]()
    node = rclpy.create_node("lab", context=here.context)
    node.create_subscription(JointState, "joint_states", states.append, 10)
    plans = node.create_publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 1)
    widths = node.create_publisher(Float64, "gripper_command", LATCHED)
    here.add(DRIVER(ARM, follower, 0.07, context=here.context), node)
    assert here.spin(lambda: states and plans.get_subscription_count() and widths.get_subscription_count(), PATIENCE)
    return follower, states, plans, widths


def test_it_follows_a_trajectory_to_its_end_and_says_where_the_joints_are(here, lab):
    follower, states, plans, _ = lab
    zero = np.zeros(5)
    plan = integrate(StartState(zero, zero, zero), np.repeat([[1.0], [-1.0]], 5, axis=1), time.time() + 0.1, 0.3, 0.0)
    plans.publish(trajectory_to_msg(plan, ARM, with_finger=False))
    assert here.spin(lambda: follower.at["elbow_flex.pos"] == pytest.approx(math.degrees(0.09)), PATIENCE)
    assert here.spin(
        lambda: joint_state_from_msg(states[-1], JOINTS, ARM.fingers)[0].qpos == pytest.approx(np.full(5, 0.09)),
        PATIENCE,
    )
    assert any(joint_state_from_msg(message, JOINTS, ())[0].qvel[0] > 0.1 for message in states), "it was seen to move"


def test_a_width_is_a_share_of_the_open_gripper(here, lab):
    follower, states, _, widths = lab
    widths.publish(Float64(data=0.035))
    assert here.spin(lambda: follower.at["gripper.pos"] == pytest.approx(50.0), PATIENCE)
    assert here.spin(lambda: joint_state_from_msg(states[-1], JOINTS, ARM.fingers)[1] == pytest.approx(0.035), PATIENCE)


def test_a_trajectory_of_another_robot_moves_nothing(here, lab):
    follower, states, plans, _ = lab
    qpos = np.zeros(6)
    plan = integrate(StartState(qpos, qpos, qpos), np.full((2, 6), 0.5), time.time(), 0.1, 0.0)
    plans.publish(trajectory_to_msg(plan, arm_model("ur5e"), with_finger=False))
    heard = len(states)
    assert here.spin(lambda: len(states) > heard + 20, PATIENCE)
    assert set(follower.at.values()) == {0.0}
