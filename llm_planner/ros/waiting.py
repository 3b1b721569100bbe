"""Answers that are waited for, but not for ever.

Waiting for a condition, for so long, without standing still.

Work that may take long, done in threads, so that the node answers to a stop meanwhile.

What waits in a topic behind the message that has just come, taken in one callback.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.subscription import MessageInfo, Subscription
from rclpy.task import Future

from llm_planner.errors import LlmPlannerError, fault_message


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


@dataclass(frozen=True)
class _ConditionWait:
    condition: Callable[[], bool]
    proceed: Callable[[], None]
    give_up: Callable[[], None]
    deadline: float  # [s] of the clock


class Patience:
    """One wait at a time; a new one takes the place of the old."""

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
        """Proceed when `condition` holds, at once if it does, or give up after its seconds, at least `seconds`."""
        self._wait = _ConditionWait(condition, proceed, give_up, self._clock() + max(self._seconds, seconds))
        self.look()

    def forget(self) -> None:
        """Wait no more."""
        self._wait = None

    def look(self) -> None:
        """To be called whenever something may have changed, and a few times a second."""
        wait = self._wait
        if wait is None:
            return
        go_on = wait.proceed if wait.condition() else wait.give_up if self._clock() > wait.deadline else None
        if go_on is not None:
            self._wait = None
            go_on()


class FaultError(LlmPlannerError):
    """A fault of ours while working, which must not leave the person without an answer."""


class Worker:
    """Each piece of work has a thread of its own, so one that hangs holds up nobody else."""

    def __init__(self, node: Node) -> None:
        self._done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = node.create_guard_condition(self._deliver)
        self._node = node

    def do(self, work: Callable[[], object]) -> Future:
        """What `work` returns or raises; it arrives in the node's executor, never in a thread."""
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


def backlog(subscription: Subscription, most: int) -> Iterator[tuple[object, MessageInfo]]:
    """At most so many messages, the oldest first, each with what the middleware says of it."""
    topic = subscription.handle
    with topic:
        for _ in range(most):
            taken = topic.take_message(subscription.msg_type, False)
            if taken is None:
                return
            yield taken
