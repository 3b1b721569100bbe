"""A gripper's width becomes goals until one is reached; time is handed in, the server is a fake."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from action_msgs.msg import GoalStatus
from rclpy.task import Future

from llm_planner.ros.external_actions import (
    FIRST_REPEAT,
    HEARD_MAX,
    LAST_REPEAT,
    REFETCH,
    TRIES,
    GripperClient,
    MotionEnd,
)

TIMEOUT = 10.0  # [s]
SUCCEEDED, ABORTED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED


@dataclass
class Result:
    """Of either action, as far as it is read."""

    stalled: bool = False
    reached_goal: bool = False


@dataclass
class Answer:
    """Of a get_result request."""

    status: int
    result: Result


@dataclass
class Handle:
    """Of a goal, as a response brings it."""

    accepted: bool = True
    results: list[Future] = field(default_factory=list)
    canceled: int = 0

    def get_result_async(self) -> Future:
        self.results.append(Future())
        return self.results[-1]

    def cancel_goal_async(self) -> Future:
        self.canceled += 1
        return Future()

    def ends(self, status: int = SUCCEEDED, **result: bool) -> None:
        self.results[-1].set_result(Answer(status, Result(**result)))


class Gripper:
    """A client, its fake server, and the clock of both."""

    def __init__(self) -> None:
        self.now, self.is_there = 0.0, True
        self.goals: list[float] = []
        self.responses: list[Future] = []
        self.ends: list[tuple[float, MotionEnd]] = []
        self.client = GripperClient(self, float, TIMEOUT, lambda *end: self.ends.append(end), lambda: self.now)

    def server_is_ready(self) -> bool:
        return self.is_there

    def send_goal_async(self, goal: float) -> Future:
        self.goals.append(goal)
        self.responses.append(Future())
        return self.responses[-1]

    def accepts(self) -> Handle:
        """Respond to the newest goal."""
        handle = Handle()
        self.responses[-1].set_result(handle)
        return handle

    def after(self, seconds: float) -> None:
        self.now += seconds
        self.client.watch()


@pytest.fixture
def gripper() -> Gripper:
    return Gripper()


@pytest.mark.parametrize(
    ("status", "result", "end"),
    [
        (SUCCEEDED, {"reached_goal": True}, MotionEnd.REACHED),
        (SUCCEEDED, {}, MotionEnd.REACHED),  # a server that sets no flags
        (SUCCEEDED, {"stalled": True}, MotionEnd.STALLED),  # allow_stalling is true
        (ABORTED, {"stalled": True}, MotionEnd.STALLED),  # allow_stalling is false
    ],
)
def test_how_it_ended_is_told_once(gripper, status, result, end):
    gripper.client.move(0.04)
    gripper.accepts().ends(status, **result)
    gripper.after(TIMEOUT + 1.0)
    assert gripper.ends == [(0.04, end)]
    assert gripper.goals == [0.04]


def test_an_unanswered_goal_is_sent_again_ever_more_seldom(gripper):
    gripper.client.move(0.04)
    times = []
    while gripper.now < 9.0:
        gripper.after(0.1)
        if len(gripper.goals) > len(times) + 1:
            times.append(gripper.now)
    pauses = [later - earlier for earlier, later in zip([0.0, *times], times, strict=False)]
    assert pauses[:4] == pytest.approx([FIRST_REPEAT * 2**k for k in range(4)], abs=0.11)
    assert max(pauses) <= LAST_REPEAT + 0.11


def test_the_end_of_a_goal_that_was_repeated_does_not_count(gripper):
    """The server preempts the first goal when the second arrives, so its end says nothing about the width."""
    gripper.client.move(0.04)
    gripper.after(FIRST_REPEAT + 0.01)
    first, second = Handle(), Handle()
    gripper.responses[0].set_result(first)
    first.ends(ABORTED)
    gripper.responses[1].set_result(second)
    second.ends(reached_goal=True)
    assert gripper.ends == [(0.04, MotionEnd.REACHED)]


def test_a_server_that_answers_later_than_a_goal_is_repeated_is_waited_for(gripper):
    gripper.client.move(0.04)
    gripper.after(FIRST_REPEAT + 0.01)
    first = Handle()
    gripper.responses[0].set_result(first)
    gripper.after(TIMEOUT / 2)
    assert len(gripper.goals) == 2, "it is not sent a third time"
    first.ends(reached_goal=True)
    assert gripper.ends == [(0.04, MotionEnd.REACHED)]


def test_a_goal_that_is_accepted_only_after_a_cancellation_is_cancelled(gripper):
    gripper.client.move(0.04)
    gripper.after(FIRST_REPEAT + 0.01)
    gripper.client.cancel()
    handles = [Handle(), Handle()]
    for response, handle in zip(gripper.responses, handles, strict=True):
        response.set_result(handle)
    assert [handle.canceled for handle in handles] == [1, 1]
    assert not gripper.ends


def test_a_goal_that_runs_is_cancelled_though_a_repetition_of_it_is_not_answered_yet(gripper):
    gripper.client.move(0.04)
    gripper.after(FIRST_REPEAT + 0.01)
    first, second = Handle(), Handle()
    gripper.responses[0].set_result(first)
    gripper.client.cancel()
    assert first.canceled == 1
    gripper.responses[1].set_result(second)
    assert second.canceled == 1


def test_a_goal_that_is_accepted_after_a_newer_width_was_sent_is_cancelled(gripper):
    gripper.client.move(0.04)
    gripper.client.move(0.0)
    old = Handle()
    gripper.responses[0].set_result(old)
    assert old.canceled == 1
    gripper.accepts().ends(reached_goal=True)
    assert gripper.ends == [(0.0, MotionEnd.REACHED)]


def test_a_server_that_has_gone_is_unheard_after_a_while():
    patient = Gripper()
    patient.client = GripperClient(patient, float, 100.0, lambda *end: patient.ends.append(end), lambda: patient.now)
    patient.client.move(0.04)
    patient.accepts()
    patient.after(20.0)
    assert not patient.client.is_unheard
    patient.is_there = False
    patient.after(HEARD_MAX)
    assert not patient.client.is_unheard
    patient.after(0.1)
    assert patient.client.is_unheard


def test_a_newer_width_replaces_the_one_before_and_its_end(gripper):
    gripper.client.move(0.04)
    old = gripper.accepts()
    gripper.client.move(0.0)
    new = gripper.accepts()
    old.ends(CANCELED)
    new.ends(stalled=True)
    assert gripper.ends == [(0.0, MotionEnd.STALLED)]


def test_a_lost_result_is_asked_for_again(gripper):
    gripper.client.move(0.04)
    handle = gripper.accepts()
    gripper.after(REFETCH + 0.01)
    handle.ends(reached_goal=True)
    assert len(handle.results) == 2
    assert gripper.ends == [(0.04, MotionEnd.REACHED)]


def test_a_goal_that_the_server_drops_is_sent_again_a_few_times(gripper):
    gripper.client.move(0.04)
    for _ in range(TRIES):
        assert not gripper.ends
        gripper.accepts().ends(CANCELED)
        gripper.after(LAST_REPEAT + 0.01)
    assert gripper.ends == [(0.04, MotionEnd.FAILED)]
    assert len(gripper.goals) == TRIES


def test_a_server_that_was_restarted_gets_the_goal_again(gripper):
    gripper.client.move(0.04)
    gripper.accepts().ends(GoalStatus.STATUS_UNKNOWN)
    gripper.after(FIRST_REPEAT + 0.01)
    gripper.accepts().ends(reached_goal=True)
    assert gripper.ends == [(0.04, MotionEnd.REACHED)]


def test_a_server_that_appears_in_time_is_used(gripper):
    gripper.is_there = False
    gripper.client.move(0.04)
    gripper.after(5.0)
    assert gripper.goals == []
    gripper.is_there = True
    gripper.after(0.1)
    gripper.accepts().ends(reached_goal=True)
    assert gripper.ends == [(0.04, MotionEnd.REACHED)]


def test_what_does_not_end_in_time_is_canceled_and_told(gripper):
    gripper.client.move(0.04)
    handle = gripper.accepts()
    gripper.after(TIMEOUT + 0.1)
    gripper.after(1.0)
    assert handle.canceled == 1
    assert gripper.ends == [(0.04, MotionEnd.SILENT)]
