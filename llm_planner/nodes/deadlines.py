"""Answers that are waited for, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.task import Future

from llm_planner.errors import LlmPlannerError


class NoAnswerError(LlmPlannerError):
    """What was waited for has not come, or is wanted no more."""


@dataclass(frozen=True)
class _Wait:
    answer: Future
    deadline: float  # [s] of the clock
    otherwise: str


class Deadlines:
    """Of one node, whose executor everything arrives in."""

    def __init__(self, node: Node, clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._clock = node, clock
        self._waits: list[_Wait] = []

    def within(self, seconds: float, answer: Future, otherwise: str) -> Future:
        """What `answer` gives, or NoAnswerError, which says `otherwise`, when the seconds are over."""
        bounded = Future(executor=self._node.executor)
        self._waits.append(_Wait(bounded, self._clock() + seconds, otherwise))
        answer.add_done_callback(lambda done: _hand_on(done, bounded))
        return bounded

    def drop(self, reason: str) -> None:
        """Wait for nothing more; everybody who did gets NoAnswerError."""
        waits, self._waits = self._waits, []
        for wait in waits:
            _give_up(wait.answer, reason)

    def watch(self) -> None:
        """To be called a few times a second."""
        now = self._clock()
        over = [wait for wait in self._waits if now > wait.deadline]
        self._waits = [wait for wait in self._waits if now <= wait.deadline and not wait.answer.done()]
        for wait in over:
            _give_up(wait.answer, wait.otherwise)


def _hand_on(done: Future, bounded: Future) -> None:
    error = done.exception()
    if bounded.done():
        return
    if error is None:
        bounded.set_result(done.result())
    else:
        bounded.set_exception(error)


def _give_up(answer: Future, reason: str) -> None:
    if not answer.done():
        answer.set_exception(NoAnswerError(reason))
