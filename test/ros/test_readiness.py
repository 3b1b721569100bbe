"""Which nodes are ready, from what they report, and when they report it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from llm_planner.ros.base_node import BaseNode
from llm_planner.ros.heartbeat_monitor import SILENCE_MAX, MotionNodeMonitor, Readiness, is_ready
from llm_planner.ros.other_systems import claim_name

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class StartingNode(BaseNode):
    """Reports `level`, and remembers what it has reported while it was active."""

    def configure(self) -> None:
        self.level, self.reported = WARN, []
        self.report_with(self._on_report)

    def _on_report(self) -> None:
        self.report(self.level, "as the test wants it")
        if self.is_active:
            self.reported.append(self.level)


class ListeningNode:
    """In the namespace `left`; hands on what it is given."""

    def __init__(self) -> None:
        self.deliver: Callable[[DiagnosticArray], None] = lambda message: None

    def get_namespace(self) -> str:
        return "/left"

    def create_subscription(
        self, kind: type, topic: str, callback: Callable[[DiagnosticArray], None], depth: int
    ) -> None:
        self.deliver = callback


def report(name: str, level: bytes, message: str = "") -> DiagnosticArray:
    return DiagnosticArray(status=[DiagnosticStatus(name=name, level=level, message=message)])


@pytest.mark.parametrize(
    ("name", "level", "ready"),
    [
        ("/plan_executor", OK, True),
        ("/plan_executor", WARN, False),  # no scene arrives
        ("/skill_server", WARN, False),
        ("/language_planner", WARN, False),  # its model is being loaded
        ("/simulator", WARN, True),  # too slow for real time: so it is on a busy machine
        ("/mpc_controller", WARN, True),
        ("/mpc_controller", ERROR, False),
    ],
)
def test_a_node_is_ready_unless_its_report_says_what_it_waits_for(name, level, ready):
    assert is_ready(DiagnosticStatus(name=name, level=level)) is ready


def test_what_is_missing_shrinks_as_nodes_report_in_their_namespace():
    node = ListeningNode()
    readiness = Readiness(node, ["plan_executor", "simulator"])
    assert readiness.missing == dict.fromkeys(["plan_executor", "simulator"], "it has not been heard of yet")
    node.deliver(report("/left/simulator", OK))
    node.deliver(report("/right/plan_executor", OK))
    node.deliver(report("/left/plan_executor", WARN, "no scene arrives"))
    assert readiness.missing == {"plan_executor": "no scene arrives"}
    node.deliver(report("/left/plan_executor", OK))
    assert readiness.missing == {}


@pytest.fixture
def starting(here) -> StartingNode:
    node = StartingNode("starting", context=here.context)
    here.add(node)
    node.trigger_configure()
    return node


def test_a_node_that_starts_reports_often_until_it_is_ok_and_then_every_second(here, starting):
    starting.trigger_activate()
    assert here.spin(lambda: len(starting.reported) == 4, 2.5)
    starting.level = OK
    assert here.spin(lambda: starting.reported[-1] == OK)
    count = len(starting.reported)
    here.spin(lambda: False, 1.5)
    assert len(starting.reported) in (count + 1, count + 2)


def test_what_a_node_has_reported_reaches_those_who_come_later(here, starting):
    starting.level = OK
    starting.trigger_activate()
    assert here.spin(lambda: bool(starting.reported))
    late = Node("late", context=here.context)
    here.add(late)
    count = len(starting.reported)
    readiness = Readiness(late, ["starting"])
    assert here.spin(lambda: not readiness.missing)
    assert len(starting.reported) <= count + 1


def test_a_silent_node_is_not_dead_while_its_process_lives_here(here):
    node, other = Node("plan_executor", context=here.context), Node("mpc_controller", context=here.context)
    here.add(node, other)
    topic, monitor = other.create_publisher(DiagnosticArray, "/diagnostics", 10), MotionNodeMonitor(node, ["filter"])
    assert here.spin(lambda: topic.get_subscription_count() > 0)
    topic.publish(report("/filter", OK))
    here.spin(lambda: False, 0.5)
    lost: list[str] = []
    node.create_timer(0.1, lambda: lost.append(monitor.lost()))
    with claim_name("filter", "", here.context.get_domain_id()):
        assert not here.spin(lambda: any(lost), SILENCE_MAX + 0.7)
    assert here.spin(lambda: lost[-1] == "filter", 5.0)
