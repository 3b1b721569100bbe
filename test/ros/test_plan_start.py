"""A plan begins once all that carries it out is there; meanwhile its sender is told for what it waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from llm_planner_interfaces.action import ExecutePlan
from rclpy.node import Node
from rclpy.task import Task

from llm_planner.ros.execution_clients import PREPARED_MAX, STARTED_MAX, PlanStart


@dataclass
class Goal:
    """Keeps what its sender is told."""

    is_cancel_requested: bool = False
    told: list[str] = field(default_factory=list)

    def publish_feedback(self, feedback: ExecutePlan.Feedback) -> None:
        self.told.append(feedback.status.message)


class Waiting:
    """A plan that waits; `lacks` is what is missing."""

    def __init__(self, here: Any) -> None:
        self.lacks, self.now, self.is_over, self.goal = "the scene", 0.0, False, Goal()
        node = Node("plan_executor", context=here.context)
        here.add(node)
        self.start = PlanStart(node, lambda: self.lacks, lambda: self.now)
        node.create_timer(0.02, self.start.watch)
        self.spin, self._executor = here.spin, node.executor
        self.task = self.begin()

    def begin(self) -> Task:
        task = self._executor.create_task(self.start.wait, self.goal, lambda: self.is_over)
        assert not self.spin(task.done, 0.3)
        return task


@pytest.fixture
def waiting(here) -> Waiting:
    return Waiting(here)


def test_a_plan_begins_when_nothing_is_missing_any_more(waiting):
    waiting.lacks = "the skill server"
    assert not waiting.spin(waiting.task.done, 0.2)
    waiting.lacks = ""
    assert waiting.spin(waiting.task.done, 5.0)
    assert waiting.task.result() == ""
    assert list(dict.fromkeys(waiting.goal.told)) == ["waiting for the scene", "waiting for the skill server"]


def test_a_stop_or_a_cancel_ends_the_wait(waiting):
    waiting.goal.is_cancel_requested = True
    assert waiting.spin(waiting.task.done, 5.0)
    waiting.goal = Goal()
    later = waiting.begin()
    waiting.is_over = True
    assert waiting.spin(later.done, 5.0)


def test_while_the_system_starts_a_plan_waits_longer(waiting):
    waiting.now = STARTED_MAX - 1.0
    assert not waiting.spin(waiting.task.done, 0.2)
    waiting.now = STARTED_MAX + 1.0
    assert waiting.spin(waiting.task.done, 5.0)
    assert waiting.task.result() == "the scene"
    later = waiting.begin()
    waiting.now += PREPARED_MAX + 0.1
    assert waiting.spin(later.done, 5.0)
