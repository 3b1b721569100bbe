"""Work that may take long, done in threads, so that the node answers to a stop meanwhile."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from rclpy.node import Node
from rclpy.task import Future

from llm_planner.errors import LlmPlannerError, fault_message


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
