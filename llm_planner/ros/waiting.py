"""Non-blocking waits for nodes: deadlines on futures, waits for conditions and background work.

None of them blocks the node's executor, so the node still answers to a stop.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.task import Future

from llm_planner.errors import LlmPlannerError, fault_message


class NoAnswerError(LlmPlannerError):
    """The awaited answer has not come in time, or was abandoned."""


@dataclass(frozen=True)
class _Wait:
    answer: Future
    deadline: float  # [s]
    otherwise: str

    def give_up(self, reason: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(NoAnswerError(reason))


class Deadlines:
    """Deadlines on futures of one node; all results arrive in the node's executor."""

    def __init__(self, node: Node, clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._clock = node, clock
        self._waits: list[_Wait] = []

    def within(self, seconds: float, answer: Future, otherwise: str) -> Future:
        """Bound a future by a deadline.

        Args:
            seconds: Time from now [s].
            answer: Future to wait for.
            otherwise: Message of the NoAnswerError after the deadline.

        Returns:
            Future of the outcome of `answer`, or of NoAnswerError.
        """
        bounded = Future(executor=self._node.executor)

        def hand_on(done: Future) -> None:
            error = done.exception()
            if bounded.done():
                return
            if error is None:
                bounded.set_result(done.result())
            else:
                bounded.set_exception(error)

        self._waits.append(_Wait(bounded, self._clock() + seconds, otherwise))
        answer.add_done_callback(hand_on)
        return bounded

    def drop(self, reason: str) -> None:
        """Abandon all waits; their futures raise NoAnswerError."""
        waits, self._waits = self._waits, []
        for wait in waits:
            wait.give_up(reason)

    def watch(self) -> None:
        """Give up overdue waits; call a few times a second."""
        now = self._clock()
        over = [wait for wait in self._waits if now > wait.deadline]
        self._waits = [wait for wait in self._waits if now <= wait.deadline and not wait.answer.done()]
        for wait in over:
            wait.give_up(wait.otherwise)


@dataclass(frozen=True)
class _ConditionWait:
    condition: Callable[[], bool]
    proceed: Callable[[], None]
    give_up: Callable[[], None]
    deadline: float  # [s]


class ConditionWait:
    """Single wait for a condition; a new wait replaces the old one."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._wait: _ConditionWait | None = None

    def once(
        self,
        condition: Callable[[], bool],
        proceed: Callable[[], None],
        give_up: Callable[[], None],
        seconds: float = 0.0,
    ) -> None:
        """Call `proceed` when `condition` holds, at once if it already does, or `give_up` after the timeout.

        The timeout is the larger of `seconds` [s] and the one given at construction.
        """
        self._wait = _ConditionWait(condition, proceed, give_up, self._clock() + max(self._seconds, seconds))
        self.look()

    def forget(self) -> None:
        self._wait = None

    def look(self) -> None:
        """Check the condition and the deadline; call after every change, and a few times a second."""
        wait = self._wait
        if wait is None:
            return
        go_on = wait.proceed if wait.condition() else wait.give_up if self._clock() > wait.deadline else None
        if go_on is not None:
            self._wait = None
            go_on()


class FaultError(LlmPlannerError):
    """Unexpected exception in background work, wrapped so that the person still receives an answer."""


class Worker:
    """Runs each job in a thread of its own, so a job that hangs does not delay others."""

    def __init__(self, node: Node) -> None:
        self._done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = node.create_guard_condition(self._deliver)
        self._node = node

    def do(self, work: Callable[[], object]) -> Future:
        """Start `work` in a thread; the returned future completes in the node's executor."""
        future = Future(executor=self._node.executor)
        threading.Thread(target=self._work, args=(work, future), daemon=True).start()
        return future

    def _work(self, work: Callable[[], object], future: Future) -> None:
        try:
            result = work()
        except LlmPlannerError as error:
            self._deliver_later(future.set_exception, error)
        except Exception as error:
            told = fault_message(error)
            self._node.get_logger().error(f"a fault while working: {told}")
            self._deliver_later(future.set_exception, FaultError(told))
        else:
            self._deliver_later(future.set_result, result)

    def _deliver_later(self, deliver: Callable[[object], None], what: object) -> None:
        self._done.put(lambda: deliver(what))
        self._wake.trigger()

    def _deliver(self) -> None:
        while not self._done.empty():
            self._done.get()()
