"""A plan that its executor never got, or tells nothing of any more, is not waited for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import rclpy
from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import Plan, PlanStatus
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.nodes.plan_client import PlanClient
from llm_planner.nodes.shell import LATCHED

PATIENCE = 0.8  # [s] without the plan's name


class Executor(Node):
    """Takes plans, says that it lives, and names no plan but `told`."""

    def __init__(self, context: rclpy.Context) -> None:
        super().__init__("plan_executor", context=context)
        self.told, self.never = PlanStatus(executor=1), Future()
        self._status = self.create_publisher(PlanStatus, "plan_status", LATCHED)
        self.create_timer(0.1, lambda: self._status.publish(self.told))
        ActionServer(self, ExecutePlan, "execute_plan", self._execute)

    async def _execute(self, goal: object) -> ExecutePlan.Result:
        await self.never
        return ExecutePlan.Result()


class Pair:
    """The client and the executor, spun together."""

    def __init__(self, context: rclpy.Context) -> None:
        self.node, self.executor = Node("language_planner", context=context), Executor(context)
        self.client = PlanClient(self.node, lambda: None, lambda: None, unnamed_max=PATIENCE)
        self.node.create_timer(0.1, self.client.watch)
        self.spinner = SingleThreadedExecutor(context=context)
        self.spinner.add_node(self.node)
        self.spinner.add_node(self.executor)
        self.ended: list[ExecutePlan.Result] = []

    def spin(self, until: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not until() and time.monotonic() < deadline:
            self.spinner.spin_once(timeout_sec=0.05)
        return until()

    def start(self) -> None:
        assert self.spin(self.client.is_heard, 10.0)
        self.client.start(Plan(id="p1"), lambda status: None, self.ended.append)


@pytest.fixture
def pair() -> Iterator[Pair]:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=os.getpid() % 100 + 1)
    pair = Pair(context)
    yield pair
    pair.spinner.shutdown()
    pair.node.destroy_node()
    pair.executor.destroy_node()
    context.shutdown()


def test_a_plan_that_the_executor_never_names_is_given_up_though_the_executor_lives(pair):
    pair.start()
    assert pair.spin(lambda: bool(pair.ended), 10.0)
    assert pair.ended[0].error_code == ExecuteCommand.Result.EXECUTOR_LOST
    assert "word of it was lost on the way. Say the command again." in pair.ended[0].error_msg


@pytest.mark.parametrize("state", [PlanStatus.RUNNING, PlanStatus.PAUSED])
def test_a_plan_that_the_executor_names_is_waited_for_also_while_it_is_held(pair, state):
    pair.executor.told = PlanStatus(executor=1, plan_id="p1", state=state)
    pair.start()
    assert not pair.spin(lambda: bool(pair.ended), 2.5 * PATIENCE)


def test_a_plan_that_has_ended_without_its_result_is_given_up(pair):
    pair.executor.told = PlanStatus(executor=1, plan_id="p1", state=PlanStatus.RUNNING)
    pair.start()
    pair.spin(lambda: False, 0.5)
    pair.executor.told = PlanStatus(executor=1, plan_id="p1", state=PlanStatus.SUCCEEDED)
    assert pair.spin(lambda: bool(pair.ended), 10.0)
