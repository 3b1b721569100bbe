"""A wrong message, or a fault in the filter itself, leaves the robot braking: the node in this process, over DDS."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.cli.processes import own_network
from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.conversions.robot_messages import joint_state_to_msg, trajectory_from_msg, trajectory_to_msg
from llm_planner.ros.nodes.safety_filter_node import SafetyFilterNode

PANDA = arm_model("panda")

PATIENCE = 20.0  # [s] of wall time: generous, because the machine may be busy
HOME, ZERO = np.array(PANDA.home), np.zeros(7)


def turning(start_time: float) -> JointTrajectory:
    """From rest for a second, and back to rest."""
    qacc = np.zeros((20, 7))
    qacc[:10, 0], qacc[10:, 0] = 1.0, -1.0
    return formulation.integrate(StartState(HOME, ZERO, ZERO), qacc, start_time, 0.1, 0.08)


@dataclass
class Running:
    """The filter, and a robot that follows what it sends."""

    node: SafetyFilterNode
    commands: list[JointTrajectory] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def now(self) -> float:
        """The robot's time [s]."""
        return 1000.0 + time.monotonic() - self.began

    def state(self) -> JointState:
        now = self.now
        here = formulation.sample(self.commands[-1], now) if self.commands else StartState(HOME, ZERO, ZERO)
        return JointState(now, here.qpos, here.qvel)


@pytest.fixture
def running(here) -> tuple[Running, Callable[[Callable[[], bool]], None]]:
    node = SafetyFilterNode("safety_filter", context=here.context)
    node.trigger_configure()
    node.trigger_activate()
    robot, driver = Running(node), rclpy.create_node("driver", context=here.context)
    driver.create_subscription(
        JointTrajectoryMsg,
        "joint_command",
        lambda message: robot.commands.append(trajectory_from_msg(message, PANDA)),
        10,
    )
    driver.create_subscription(
        DiagnosticArray, "/diagnostics", lambda message: robot.reports.extend(s.message for s in message.status), 10
    )
    states = driver.create_publisher(JointStateMsg, "joint_states", 10)
    controller = rclpy.create_node("mpc_controller", context=here.context)
    robot.wanted = controller.create_publisher(JointTrajectoryMsg, "joint_command_wanted", 1)
    driver.create_timer(0.01, lambda: states.publish(joint_state_to_msg(robot.state(), 0.08, PANDA)))
    here.add(node, driver, controller)

    def until(condition: Callable[[], bool]) -> None:
        assert here.spin(condition, PATIENCE), "it did not come to that"

    return robot, until


def in_motion(robot: Running, until: Callable[[Callable[[], bool]], None]) -> JointTrajectory:
    """A plan is under way, and half of its speed is reached."""
    heard = robot.now + 2.0
    until(
        lambda: robot.now > heard or (robot.wanted.get_subscription_count() > 0 and robot.node._constraints is not None)
    )
    plan = turning(robot.now + 0.1)
    while not robot.commands:
        plan = turning(robot.now + 0.1)
        robot.wanted.publish(trajectory_to_msg(plan, PANDA))
        asked = robot.now
        until(lambda asked=asked: bool(robot.commands) or robot.now > asked + 0.3)
    until(lambda: robot.state().qvel[0] > 0.1)
    return plan


def brakes(robot: Running) -> bool:
    """Whether the robot was told to rest earlier than the plan that it follows would."""
    last = robot.commands[-1]
    return formulation.end_time(last) < formulation.end_time(robot.commands[0]) - 0.3


def test_a_fault_in_a_callback_brakes(running):
    robot, until = running
    in_motion(robot, until)
    robot.node.on_fault(ZeroDivisionError("a fault of ours"))
    until(lambda: brakes(robot))
    until(lambda: np.abs(robot.state().qvel).max() < 1e-3)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER  # a process of other work as well never runs in real time
    told = "a fault in this node: ZeroDivisionError: a fault of ours; the robot was braked"
    until(lambda: told in robot.reports)


def test_a_wrong_plan_brakes_and_the_node_lives(running):
    robot, until = running
    plan = in_motion(robot, until)
    wrong = trajectory_to_msg(plan, PANDA)
    wrong.joint_names[0] = "elbow"
    robot.wanted.publish(wrong)
    until(lambda: brakes(robot))
    until(lambda: any("joint_command names elbow" in said and "was braked" in said for said in robot.reports))


def test_a_fault_before_the_node_is_configured_does_no_harm():
    context = rclpy.Context()
    domain = int(own_network(random.Random())["ROS_DOMAIN_ID"])
    rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
    node = SafetyFilterNode("safety_filter", context=context)
    node.on_fault(ZeroDivisionError("a fault of ours"))
    node.destroy_node()
    rclpy.try_shutdown(context=context)
