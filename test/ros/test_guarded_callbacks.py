"""An exception that nobody foresaw ends no node: it brakes, and is told with where the message came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import rclpy
from llm_planner_interfaces.action import ExecutePlan
from llm_planner_interfaces.msg import Plan
from llm_planner_interfaces.srv import StopRobot
from rclpy.node import Node
from std_msgs.msg import String

from llm_planner.ros.base_node import RELIABLE, BaseNode
from llm_planner.ros.idempotent_requests import GoalClient, GoalServer, ServiceCaller


class Fragile(BaseNode):
    """Raises in every callback, and counts how often it has braked."""

    def configure(self) -> None:
        self.braked, self.ticks, self.logged = 0, 0, []
        self.create_subscription(String, "words", self._raise, RELIABLE)
        self.create_service(StopRobot, "stop", self._raise)
        self.every(0.05, self._on_tick)
        GoalServer(self, ExecutePlan, "execute_plan", self._execute, lambda goal: None, lambda goal: True)

    def fault(self, origin: str, error: BaseException) -> None:
        self.logged.append(origin)
        super().fault(origin, error)

    def on_fault(self, error: BaseException) -> None:
        self.braked += 1
        raise ValueError("braking fails, too")

    def _raise(self, *_: object) -> None:
        raise KeyError("a fault")

    def _on_tick(self) -> None:
        self.ticks += 1
        if self.ticks == 2:
            self._raise()

    async def _execute(self, goal: object) -> ExecutePlan.Result:
        raise KeyError("a fault")

    async def later(self) -> None:
        raise KeyError("a fault")


@dataclass
class Pair:
    """The node and a client."""

    node: Fragile
    client: Node
    spin: Callable[..., bool]

    def lives(self) -> bool:
        ticks = self.node.ticks
        return self.spin(lambda: self.node.ticks > ticks + 2)


@pytest.fixture
def pair(here) -> Pair:
    pair = Pair(Fragile("fragile", context=here.context), rclpy.create_node("client", context=here.context), here.spin)
    here.add(pair.node, pair.client)
    pair.node.trigger_configure()
    pair.node.trigger_activate()
    return pair


def test_a_message_that_raises_is_told_with_its_sender(pair):
    words = pair.client.create_publisher(String, "words", RELIABLE)
    assert pair.spin(lambda: words.get_subscription_count() > 0)
    words.publish(String(data="odd"))
    assert pair.spin(lambda: "a message on words from /client" in pair.node.logged)
    assert pair.node.braked > 0
    assert pair.lives()


def test_a_timer_that_raises_goes_on(pair):
    assert pair.spin(lambda: pair.node.logged == ["a timer"])
    assert pair.lives()


def test_a_request_that_raises_is_answered_with_the_fault(pair):
    answer = ServiceCaller(pair.client, StopRobot, "stop").call(StopRobot.Request(), 20.0, "no answer")
    assert pair.spin(answer.done)
    assert answer.result().error_code == StopRobot.Response.UNKNOWN
    assert "a fault of this program (KeyError: 'a fault')" in answer.result().error_msg
    assert pair.lives()


def test_a_goal_that_raises_ends_with_a_result_that_is_no_success(pair):
    ends = []
    GoalClient(pair.client, ExecutePlan, "execute_plan").send(
        ExecutePlan.Goal(plan=Plan(id="p")), 20.0, lambda feedback: None, ends.append
    )
    assert pair.spin(lambda: bool(ends))
    assert ends[0].result.error_code == ExecutePlan.Result.UNKNOWN
    assert "a fault of this program" in ends[0].result.error_msg
    assert pair.lives()


def test_a_task_that_raises_ends_nothing_else(pair):
    pair.node.background(pair.node.later)
    assert pair.spin(lambda: "the task later" in pair.node.logged)
    assert pair.lives()


def test_an_empty_result_says_that_nothing_succeeded():
    for result in (ExecutePlan.Result(), StopRobot.Response()):
        assert result.error_code == result.UNKNOWN != getattr(result, "SUCCEEDED", getattr(result, "STOPPED", None))
