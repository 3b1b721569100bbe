"""A command on its way to the language planner, which may die with it; the action client is a fake."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from rclpy.task import Future

from llm_planner.nodes.client import SAID_AGAIN, Submission, SystemUnreachableError


@dataclass
class Handle:
    """Of a goal, as an answer brings it."""

    accepted: bool
    ended: Future = field(default_factory=Future)

    def get_result_async(self) -> Future:
        return self.ended


@dataclass
class FakeClient:
    """Keeps the answers that are still to come, and the ids of the goals."""

    answers: list[Future] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)

    def send_goal_async(self, goal, feedback_callback, goal_uuid) -> Future:
        assert goal == ExecuteCommand.Goal(command="wave")
        self.ids.append(bytes(goal_uuid.uuid))
        self.answers.append(Future())
        return self.answers[-1]


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def lost(client) -> Submission:
    """Nobody has answered it for a while, so it was sent again."""
    submission = Submission(client, "wave", lambda progress: None)
    submission.insist(time.monotonic())
    assert len(client.ids) == 1
    submission.insist(time.monotonic() + SAID_AGAIN + 0.1)
    return submission


def test_a_command_that_nobody_answers_is_sent_again_under_its_id(client, lost):
    assert len(client.ids) == 2
    assert client.ids[0] == client.ids[1]
    client.answers[1].set_result(Handle(accepted=True))
    assert lost.is_answered
    assert not lost.is_done
    lost.insist(time.monotonic() + 60.0)
    assert len(client.ids) == 2


def test_a_planner_that_is_not_active_yet_is_asked_again(client, lost):
    client.answers[1].set_result(Handle(accepted=False))
    assert not lost.is_answered
    lost.insist(time.monotonic() + 2 * SAID_AGAIN + 1.0)
    client.answers[2].set_result(Handle(accepted=True))
    assert lost.is_answered


def test_a_slow_planner_that_has_it_already_refuses_it_the_second_time(client, lost):
    client.answers[0].set_result(Handle(accepted=True))
    client.answers[1].set_result(Handle(accepted=False))
    assert lost.is_answered
    assert not lost.is_done


def test_a_planner_that_refuses_every_time_takes_no_commands(client, lost):
    for answer in client.answers:
        answer.set_result(Handle(accepted=False))
    assert lost.is_done
    with pytest.raises(SystemUnreachableError, match="the language planner takes no commands: it is not active"):
        _ = lost.result
