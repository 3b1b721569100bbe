"""An arm behind the action FollowJointTrajectory follows the commands of the safety filter, with few goals."""

from __future__ import annotations

import time
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.parameter import Parameter
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.ros.conversions.robot_messages import trajectory_to_msg
from llm_planner.ros.nodes.trajectory_action_node import TrajectoryActionNode

actions = pytest.importorskip("control_msgs.action", reason="control_msgs is not installed; make setup-dev builds it")
if not hasattr(actions, "FollowJointTrajectory"):
    pytest.skip("this control_msgs has no FollowJointTrajectory; make setup-dev builds it", allow_module_level=True)

DRIVER = run_path(str(Path(__file__).parents[2] / "examples" / "ros" / "mock_ros2_control.py"))
ARM = arm_model("ur5e")
PATIENCE = 30.0  # [s] of wall time: generous, because the machine may be busy
SPEED, PERIOD, STEPS = 0.2, 0.02, 25  # [rad/s], [s] between commands, knots of a command


class Controller:
    """Action server with the semantics of joint_trajectory_controller: the newest goal preempts the one before."""

    def __init__(self, node) -> None:
        self.follows = DRIVER["JointTrajectoryController"](ARM.joints, np.array(ARM.home))
        self.goals, self.refuses, self._preempted = 0, False, None
        ActionServer(
            node,
            actions.FollowJointTrajectory,
            "joint_trajectory_controller/follow_joint_trajectory",
            self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        node.create_timer(0.02, self._on_cycle)

    @property
    def qpos(self) -> np.ndarray:
        return self.follows.state(time.time())[0]

    def _on_goal(self, goal) -> GoalResponse:
        return GoalResponse.REJECT if self.refuses else GoalResponse.ACCEPT

    async def _execute(self, handle):
        self.goals += 1
        trajectory = handle.request.trajectory
        refusal = self.follows.accept(trajectory, time.time())
        result = actions.FollowJointTrajectory.Result(error_string=refusal)
        if refusal:
            result.error_code = result.INVALID_GOAL
            handle.abort()
            return result
        if self._preempted is not None and not self._preempted[1].done():
            self._preempted[1].set_result(False)
        last = trajectory.points[-1].time_from_start
        ends = trajectory.header.stamp.sec + last.sec + 1e-9 * (trajectory.header.stamp.nanosec + last.nanosec)
        self._preempted = (ends, Future())
        if await self._preempted[1]:
            handle.succeed()
        else:
            handle.abort()
        return result

    def _on_cycle(self) -> None:
        if self._preempted is not None and time.time() > self._preempted[0] and not self._preempted[1].done():
            self._preempted[1].set_result(True)


class Filter:
    """Sends a command every 0.02 s, as the safety filter does: its first joint turns until it brakes."""

    def __init__(self, node) -> None:
        self._topic = node.create_publisher(JointTrajectoryMsg, "joint_command", 1)
        self.began, self.ends = time.time() + 0.02, np.inf
        self.timer = node.create_timer(PERIOD, self.send)

    def place(self, at: float) -> float:
        return SPEED * (min(at, self.ends) - self.began)

    def send(self) -> None:
        start = time.time() + 0.02
        brakes = np.array([start + 0.02 * k > self.ends for k in range(STEPS + 1)])
        turned = np.array([self.place(start + 0.02 * k) for k in range(STEPS + 1)])
        qpos, qvel = np.tile(ARM.home, (STEPS + 1, 1)), np.zeros((STEPS + 1, ARM.nq))
        qpos[:, 0] += turned
        qvel[~brakes, 0] = SPEED
        qvel[-1] = 0.0
        plan = JointTrajectory(start, 0.02, qpos, qvel, np.zeros((STEPS, ARM.nq)), float("nan"))
        self._topic.publish(trajectory_to_msg(plan, ARM, False))


@pytest.fixture
def bench(here):
    overrides = [Parameter("robot", value="ur5e"), Parameter("trajectory_action", value=ACTION)]
    node = TrajectoryActionNode("trajectory_action", context=here.context, parameter_overrides=overrides)
    node.trigger_configure()
    node.trigger_activate()
    driver, sender = (rclpy.create_node(name, context=here.context) for name in ("driver", "safety_filter"))
    controller = Controller(driver)
    here.add(node, driver, sender)
    assert here.spin(node._client.server_is_ready, PATIENCE)
    return here, sender, controller, node


ACTION = "joint_trajectory_controller/follow_joint_trajectory"


def test_the_arm_follows_with_few_goals_and_stops_at_once(bench):
    here, sender, controller, _ = bench
    commands = Filter(sender)
    assert here.spin(lambda: controller.qpos[0] - ARM.home[0] > 0.2, PATIENCE)
    turned, wanted = controller.qpos[0] - ARM.home[0], commands.place(time.time())
    assert turned == pytest.approx(wanted, abs=0.03)
    assert controller.goals <= 14 * (time.time() - commands.began) + 2, "about ten goals a second"
    commands.ends = time.time() + 0.02
    stopped = commands.place(np.inf)
    assert here.spin(lambda: abs(controller.follows.state(time.time())[1, 0]) < 1e-3, PATIENCE)
    assert controller.qpos[0] - ARM.home[0] == pytest.approx(stopped, abs=0.02)


def test_when_no_command_comes_any_more_the_last_goal_ends_at_rest(bench):
    here, sender, controller, _ = bench
    commands = Filter(sender)
    assert here.spin(lambda: controller.qpos[0] - ARM.home[0] > 0.1, PATIENCE)
    commands.timer.cancel()
    assert here.spin(lambda: abs(controller.follows.state(time.time())[1, 0]) < 1e-6, PATIENCE)


def test_a_refusal_is_reported_and_the_next_command_is_tried(bench):
    here, sender, controller, node = bench
    controller.refuses = True
    Filter(sender)
    assert here.spin(lambda: "refuses the trajectory" in node._flaw, PATIENCE)
    controller.refuses = False
    assert here.spin(lambda: controller.goals > 0 and not node._flaw, PATIENCE)
