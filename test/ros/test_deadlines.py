"""Answers that are waited for, but not for ever."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.task import Future

from llm_planner.errors import InputError
from llm_planner.ros.waiting import Deadlines, NoAnswerError

NOBODY = SimpleNamespace(executor=None)  # a node that nothing spins: futures then call back at once


class Waiting:
    """An answer that is waited for during two seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self.deadlines = Deadlines(NOBODY, lambda: self.now)
        self.answer = Future()
        self.bounded = self.deadlines.within(2.0, self.answer, "it did not come")

    def at(self, now: float) -> Future:
        self.now = now
        self.deadlines.watch()
        return self.bounded


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_an_answer_in_time_is_handed_on(waiting):
    waiting.answer.set_result("here")
    assert waiting.at(1.0).result() == "here"


def test_so_is_an_error(waiting):
    waiting.answer.set_exception(InputError("wrong"))
    with pytest.raises(InputError, match="wrong"):
        waiting.at(1.0).result()


def test_what_does_not_come_in_time_is_given_up_and_comes_too_late(waiting):
    assert not waiting.at(2.0).done()
    assert waiting.at(2.1).done()
    waiting.answer.set_result("late")
    with pytest.raises(NoAnswerError, match="it did not come"):
        waiting.bounded.result()


def test_what_is_dropped_is_waited_for_no_more(waiting):
    waiting.deadlines.drop("stopped")
    with pytest.raises(NoAnswerError, match="stopped"):
        waiting.bounded.result()
    waiting.answer.set_result("late")
    assert waiting.at(3.0).exception() is not None
