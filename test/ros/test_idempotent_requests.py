"""Requests and goals whose answers may be lost; time is handed in, the other side is a fake."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from action_msgs.msg import GoalStatus
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.srv import StopRobot
from rclpy.task import Future

from llm_planner.ros.idempotent_requests import REFETCH, REMEMBERED, REPEAT, GoalEnd, SentGoal, answer_once

LATER = REPEAT + 0.01  # [s]
PATIENCE = 10.0  # [s] for being taken


@dataclass
class Answer:
    """Of a get_result request."""

    status: int
    result: ExecuteCommand.Result


@dataclass
class Handle:
    """Of a goal, as an answer brings it."""

    accepted: bool = True
    status: int = GoalStatus.STATUS_EXECUTING
    results: list[Future] = field(default_factory=list)
    canceled: int = 0

    def get_result_async(self) -> Future:
        self.results.append(Future())
        return self.results[-1]

    def cancel_goal_async(self) -> Future:
        self.canceled += 1
        return Future()


@dataclass
class FakeClient:
    """Keeps the answers that are still to come, and the ids of the goals."""

    answers: list[Future] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    is_there: bool = True

    def server_is_ready(self) -> bool:
        return self.is_there

    def send_goal_async(self, goal, feedback_callback) -> Future:
        self.ids.append(goal.id)
        self.answers.append(Future())
        return self.answers[-1]


class Sent:
    """A goal that was sent at 0 s."""

    def __init__(self, client: FakeClient) -> None:
        self.client, self.ends = client, list[GoalEnd]()
        self.goal = SentGoal(client, ExecuteCommand.Goal(), PATIENCE, lambda _: None, self.ends.append, 0.0)


@pytest.fixture
def sent() -> Sent:
    return Sent(FakeClient())


def test_a_goal_that_nobody_answers_is_sent_again_under_its_id(sent):
    sent.goal.watch(0.5 * REPEAT)
    assert len(sent.client.ids) == 1
    sent.goal.watch(LATER)
    assert len(sent.client.ids) == 2
    assert sent.client.ids[0] == sent.client.ids[1] != ""


def test_it_is_sent_when_a_server_has_appeared():
    sent = Sent(FakeClient(is_there=False))
    assert sent.client.ids == []
    sent.client.is_there = True
    sent.goal.watch(1.0)
    assert len(sent.client.ids) == 1


def test_of_several_answers_the_first_counts_and_nothing_is_sent_any_more(sent):
    sent.goal.watch(LATER)
    first, second = Handle(), Handle()
    sent.client.answers[1].set_result(first)
    sent.client.answers[0].set_result(second)
    sent.goal.watch(5 * LATER)
    assert (len(first.results), len(second.results), len(sent.client.ids)) == (1, 0, 2)


def test_a_server_that_is_not_active_yet_is_asked_again(sent):
    sent.client.answers[0].set_result(Handle(accepted=False))
    sent.goal.watch(LATER)
    sent.client.answers[1].set_result(Handle())
    assert sent.goal.is_taken
    assert not sent.ends


@pytest.mark.parametrize("is_refused", [True, False])
def test_what_nobody_takes_in_time_is_given_up_and_says_whether_somebody_was_there(sent, is_refused):
    if is_refused:
        sent.client.answers[0].set_result(Handle(accepted=False))
    sent.goal.watch(PATIENCE + 0.1)
    assert sent.ends == [GoalEnd(None, was_refused=is_refused)]


def test_a_result_that_was_lost_is_fetched_again_once_the_goal_is_seen_to_have_ended(sent):
    handle = Handle()
    sent.client.answers[0].set_result(handle)
    sent.goal.watch(5.0)
    assert len(handle.results) == 1
    handle.status = GoalStatus.STATUS_SUCCEEDED
    sent.goal.watch(6.0)
    assert len(handle.results) == 2
    result = ExecuteCommand.Result(error_code=ExecuteCommand.Result.SUCCEEDED)
    handle.results[1].set_result(Answer(GoalStatus.STATUS_SUCCEEDED, result))
    handle.results[0].set_result(Answer(GoalStatus.STATUS_SUCCEEDED, result))
    assert sent.ends == [GoalEnd(result)]


def test_a_result_is_asked_for_again_now_and_then_though_no_status_tells_of_the_end(sent):
    handle = Handle()
    sent.client.answers[0].set_result(handle)
    sent.goal.watch(LATER)
    assert len(handle.results) == 1
    sent.goal.watch(REFETCH + LATER)
    handle.results[-1].set_result(Answer(GoalStatus.STATUS_SUCCEEDED, ExecuteCommand.Result()))
    assert (len(handle.results), len(sent.ends)) == (2, 1)


def test_a_server_that_has_forgotten_the_goal_knows_no_result(sent):
    handle = Handle()
    sent.client.answers[0].set_result(handle)
    handle.results[0].set_result(Answer(GoalStatus.STATUS_UNKNOWN, ExecuteCommand.Result()))
    assert sent.ends == [GoalEnd(None)]


def test_an_end_is_asked_for_until_it_comes_also_of_a_goal_whose_answer_was_lost(sent):
    sent.goal.cancel(0.0)
    sent.goal.watch(LATER)
    handle = Handle()
    sent.client.answers[1].set_result(handle)
    assert handle.canceled == 1
    sent.goal.watch(3 * LATER)
    assert handle.canceled == 2


class Stopping:
    """A service that counts how often it is carried out."""

    def __init__(self) -> None:
        self.count = 0
        self.ask = answer_once(self._handle)

    def _handle(self, request, response):
        self.count += 1
        if request.reason == "fail":
            raise KeyError("a fault")
        response.error_msg = str(self.count)
        return response

    def answer(self, **request: str) -> StopRobot.Response:
        return asyncio.run(self.ask(StopRobot.Request(**request), StopRobot.Response()))


def test_a_repeated_request_is_carried_out_once_and_gets_the_same_answer():
    stopping = Stopping()
    assert [stopping.answer(id=name).error_msg for name in ("a", "a", "b", "a")] == ["1", "1", "2", "1"]


def test_a_request_without_an_id_is_always_new():
    stopping = Stopping()
    assert [stopping.answer().error_msg for _ in range(3)] == ["1", "2", "3"]


def test_whoever_repeats_what_failed_is_told_the_same():
    stopping = Stopping()
    for _ in range(2):
        with pytest.raises(KeyError, match="a fault"):
            stopping.answer(id="a", reason="fail")
    assert stopping.count == 1


def test_only_the_newest_answers_are_kept():
    stopping = Stopping()
    for number in range(REMEMBERED + 1):
        stopping.answer(id=str(number))
    stopping.answer(id="1")
    assert stopping.count == REMEMBERED + 1
    stopping.answer(id="0")
    assert stopping.count == REMEMBERED + 2
