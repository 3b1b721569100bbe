"""A skill moves the robot only while a plan names it; the test is the plan's executor, the other nodes are real."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator

import numpy as np
import pytest
import rclpy
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionReference, PlanStatus, SkillArgument
from trajectory_msgs.msg import JointTrajectory

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.control.formulation import hold
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.message_checks import stamp
from llm_planner.ros.conversions.motion_messages import reference_to_msg
from llm_planner.ros.conversions.robot_messages import trajectory_to_msg
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd
from llm_planner.ros.node_table import NODES
from llm_planner.scene.scene import Pose

NEEDED = ("simulator", "mpc_controller", "safety_filter", "skill_server")
PERIOD = 0.1  # [s] between plan statuses
TIMEOUT = 60.0  # [s]
Result = ExecuteSkill.Result
PANDA = arm_model("panda")


class Executor:
    """Sends goals to the skill server, and names one of them while it is told to."""

    def __init__(self, client: SystemClient) -> None:
        self.client, self.lease, self.speaks = client, "", True
        self.speed = math.nan  # of the fastest joint [rad/s]
        self._node = rclpy.create_node("plan_executor", context=client.node.context)
        self._status = self._node.create_publisher(PlanStatus, "plan_status", LATCHED)
        self._skills = GoalClient(client.node, ExecuteSkill, "execute_skill")
        client.node.create_timer(PERIOD, self.say)
        client.watch_joints(self._on_joints)
        client.wait_until(lambda: self._skills.is_ready and self.speed < 0.01, TIMEOUT)

    def _on_joints(self, time: float, qpos: list[float], qvel: list[float], width: float) -> None:
        self.time, self.qpos, self.speed = time, qpos, max(map(abs, qvel))

    def say(self) -> None:
        if self.speaks:
            self._status.publish(PlanStatus(executor=1, lease=self.lease))

    def pick(self, name: str) -> list[GoalEnd]:
        """Send a goal of this id; the list gets how it ended."""
        ends: list[GoalEnd] = []
        arguments = [SkillArgument(name="object", type=SkillArgument.WORD, word="red block")]
        goal = ExecuteSkill.Goal(id=name, step_id="1", skill="pick", arguments=arguments)
        self._skills.send(goal, TIMEOUT, lambda feedback: None, ends.append)
        return ends

    def wait_until_it_moves(self) -> None:
        self.client.wait_until(lambda: self.speed > 0.1, TIMEOUT)

    def end(self, ends: list[GoalEnd]) -> Result:
        self.client.wait_until(lambda: bool(ends), TIMEOUT)
        self.client.wait_until(lambda: self.speed < 0.01, TIMEOUT)
        return ends[0].result


@pytest.fixture(scope="module")
def executor(tmp_path_factory) -> Iterator[Executor]:
    environment = own_network(random.Random())
    entries = [entry for entry in NODES if entry.name in NEEDED]
    options = NodeOptions({"simulator": {"objects": "red block, green bowl", "seed": "1"}})
    log = tmp_path_factory.mktemp("lease") / "nodes.log"
    with NodeProcesses(entries, options, log, environment):
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        yield Executor(client)
        client.close()


def test_a_goal_that_no_plan_names_moves_nothing(executor):
    ends = executor.pick("a")
    fastest = []
    executor.client.wait_until(lambda: fastest.append(executor.speed) or bool(ends), TIMEOUT)
    assert max(fastest) < 0.01
    assert ends[0].result.error_code == Result.CONTROLLER_FAULT
    assert "pick is refused: no running plan names this goal" in ends[0].result.error_msg


def test_a_lease_a_reference_or_a_command_of_another_node_moves_nothing(executor):
    """As from a shell: `ros2 topic pub`. The first is the lease of a goal that no plan of the executor names."""
    node, now = executor.client.node, executor.time
    home = (executor.qpos[0] + 0.3, *executor.qpos[1:])
    wanted = hold(np.array(home), now, 2.0, 0.08)
    publishers = {
        node.create_publisher(PlanStatus, "plan_status", LATCHED): PlanStatus(executor=1, lease="z"),
        node.create_publisher(MotionReference, "motion_reference", 1): reference_to_msg(
            Reference(now, 2.0, (Pose((0.4, 0.3, 0.5)),), 0.08, epoch=time.time_ns()), "panda_link0"
        ),
        node.create_publisher(JointTrajectory, "joint_command_wanted", 1): trajectory_to_msg(wanted, PANDA),
        node.create_publisher(JointTrajectory, "joint_command", 1): trajectory_to_msg(wanted, PANDA),
    }
    executor.client.wait_until(lambda: all(one.get_subscription_count() for one in publishers), TIMEOUT)
    ends, fastest = executor.pick("z"), []

    def publish() -> bool:
        for publisher, message in publishers.items():
            if hasattr(message, "header"):
                message.header.stamp = stamp(executor.time)
            publisher.publish(message)
        fastest.append(executor.speed)
        return bool(ends)

    executor.client.wait_until(publish, TIMEOUT)
    assert max(fastest) < 0.01
    assert "no running plan names this goal" in ends[0].result.error_msg
    for publisher in publishers:
        node.destroy_publisher(publisher)


def test_a_skill_moves_only_while_its_plan_names_it(executor):
    executor.lease = "b"
    ends = executor.pick("b")
    executor.wait_until_it_moves()
    executor.lease = ""
    executor.say()
    assert executor.end(ends).error_code == Result.CANCELED


def test_a_skill_whose_plan_falls_silent_ends(executor):
    executor.lease = "c"
    ends = executor.pick("c")
    executor.wait_until_it_moves()
    executor.speaks = False
    result = executor.end(ends)
    executor.speaks = True
    assert result.error_code == Result.CONTROLLER_FAULT
    assert "its plan has not named it" in result.error_msg


def test_a_goal_that_was_sent_twice_runs_once_and_both_get_its_result(executor):
    executor.lease = "d"
    first = executor.pick("d")
    executor.wait_until_it_moves()
    second = executor.pick("d")
    executor.client.spin_for(0.5)
    executor.lease = ""
    executor.say()
    codes = {executor.end(ends).error_code for ends in (first, second)}
    assert codes == {Result.CANCELED}
    third = executor.pick("d")
    assert executor.end(third).error_code == Result.CANCELED


def test_a_goal_that_the_plan_names_takes_the_place_of_one_that_it_has_given_up(executor):
    executor.lease = "e"
    given_up = executor.pick("e")
    executor.wait_until_it_moves()
    executor.lease = "f"
    named = executor.pick("f")
    assert executor.end(given_up).error_code == Result.CANCELED
    executor.wait_until_it_moves()
    executor.lease = ""
    executor.say()
    assert executor.end(named).error_code == Result.CANCELED
