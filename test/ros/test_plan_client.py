"""A plan whose executor was started anew, or has fallen silent, is not waited for."""

from __future__ import annotations

import pytest
import rclpy
from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import Plan, PlanStatus
from rclpy.action import ActionServer
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.execution_clients import PlanClient


class Executor(Node):
    """Takes plans, never ends one, and says `told` while it `lives`."""

    def __init__(self, context: rclpy.Context) -> None:
        super().__init__("plan_executor", context=context)
        self.told, self.never, self.lives = PlanStatus(executor=1), Future(), True
        self._status = self.create_publisher(PlanStatus, "plan_status", LATCHED)
        self.create_timer(0.1, lambda: self._status.publish(self.told) if self.lives else None)
        ActionServer(self, ExecutePlan, "execute_plan", self._execute)

    async def _execute(self, goal: object) -> ExecutePlan.Result:
        await self.never
        return ExecutePlan.Result()


class Pair:
    """The client and the executor."""

    def __init__(self, here) -> None:
        node, self.executor = Node("language_planner", context=here.context), Executor(here.context)
        self.client = PlanClient(node, lambda: None, lambda: None)
        node.create_timer(0.1, self.client.watch)
        here.add(node, self.executor)
        self.spin, self.ended = here.spin, []

    def start(self) -> None:
        assert self.spin(self.client.is_heard, 10.0)
        self.client.start(Plan(id="p1"), lambda status: None, self.ended.append)


@pytest.fixture
def pair(here) -> Pair:
    return Pair(here)


def test_a_plan_is_waited_for_while_its_executor_lives(pair):
    pair.start()
    assert not pair.spin(lambda: bool(pair.ended), 2.0)


def test_a_plan_is_given_up_when_its_executor_falls_silent(pair):
    pair.start()
    pair.executor.lives = False
    assert pair.spin(lambda: bool(pair.ended), 10.0)
    assert pair.ended[0].error_code == ExecuteCommand.Result.EXECUTOR_LOST


def test_a_plan_is_given_up_when_its_executor_was_started_anew(pair):
    pair.start()
    pair.spin(lambda: False, 0.3)
    pair.executor.told = PlanStatus(executor=2)
    assert pair.spin(lambda: bool(pair.ended), 10.0)
    assert "restarted" in pair.ended[0].error_msg
