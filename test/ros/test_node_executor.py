"""The executor of the nodes runs what is ready, follows entities that come and go, and lets other work go on."""

from __future__ import annotations

import threading
import time

import pytest
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class Closed(CallbackGroup):
    """Lets nothing run."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False


@pytest.fixture
def node(here) -> Node:
    node = Node("node", context=here.context)
    here.add(node)
    return node


def test_a_subscription_that_is_created_while_the_executor_waits_is_served(here, node):
    heard = []
    assert not here.spin(lambda: False, 0.2)
    subscription = node.create_subscription(String, "words", lambda message: heard.append(message.data), RELIABLE)
    publisher = node.create_publisher(String, "words", RELIABLE)
    assert here.spin(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(String(data="one"))
    assert here.spin(lambda: heard == ["one"])
    node.destroy_subscription(subscription)
    assert here.spin(lambda: publisher.get_subscription_count() == 0)


def test_a_timer_may_destroy_itself_and_others(here, node):
    ticks = []

    def tick() -> None:
        ticks.append("first")
        node.destroy_timer(first)
        node.destroy_timer(second)

    first = node.create_timer(0.05, tick)
    second = node.create_timer(0.05, lambda: ticks.append("second"))
    assert here.spin(lambda: bool(ticks))
    assert not here.spin(lambda: len(ticks) > 2, 0.3)
    assert ticks.count("first") <= 1


def test_a_service_may_wait_for_another_callback(here, node):
    gate = Future()

    async def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = await gate
        return response

    node.create_service(Trigger, "ask", answer)
    other = Node("other", context=here.context)
    here.add(other)
    other.create_timer(0.2, lambda: gate.done() or gate.set_result("open"))
    client = other.create_client(Trigger, "ask")
    assert here.spin(client.service_is_ready)
    asked = client.call_async(Trigger.Request())
    assert here.spin(asked.done)
    assert asked.result().message == "open"


def test_tasks_start_in_the_order_in_which_they_came(here):
    done = []
    for k in range(3):
        here.spinner.create_task(done.append, k)
    assert here.spin(lambda: done == [0, 1, 2])


def test_what_a_group_does_not_let_run_stays_in_the_queue_and_wakes_nobody(here, node):
    heard = []
    node.create_subscription(String, "words", heard.append, RELIABLE, callback_group=Closed())
    publisher = node.create_publisher(String, "words", RELIABLE)
    assert here.spin(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(String(data="one"))
    began, spent = time.monotonic(), time.thread_time()
    here.spinner.spin_once(timeout_sec=0.3)
    here.spinner.spin_once(timeout_sec=0.3)
    assert not heard
    assert time.monotonic() - began > 0.3  # at most one of them was woken, by what was created before
    assert time.thread_time() - spent < 0.2


def test_a_publisher_with_incompatible_qos_is_warned_of(here, node, capfd):
    node.create_subscription(String, "words", lambda message: None, RELIABLE)
    node.create_publisher(String, "words", BEST_EFFORT)
    printed = []

    def is_warned() -> bool:
        printed.append(capfd.readouterr().err)
        return "incompatible QoS" in "".join(printed)

    assert here.spin(is_warned)


def test_a_guard_condition_of_another_thread_wakes_it(here, node):
    woken = []
    guard = node.create_guard_condition(lambda: woken.append(threading.get_ident()))
    thread = threading.Thread(target=guard.trigger)
    thread.start()
    thread.join()
    assert here.spin(lambda: woken == [threading.get_ident()])


def test_an_exception_ends_the_spin_and_the_next_one_goes_on(here, node):
    ticks = []

    def tick() -> None:
        ticks.append(1)
        raise ValueError("a fault")

    node.create_timer(0.05, tick)
    for count in (1, 2):
        with pytest.raises(ValueError, match="a fault"):
            here.spin(lambda: False)
        assert len(ticks) == count


def test_shutdown_by_another_thread_ends_the_spin(here, node):
    thread = threading.Thread(target=here.spinner.spin)
    thread.start()
    here.spinner.shutdown()
    thread.join(20.0)
    assert not thread.is_alive()


def test_the_end_of_the_context_ends_the_spin(here, node):
    node.create_timer(0.05, lambda: here.context.try_shutdown())
    here.spinner.spin()
    assert not here.context.ok()
