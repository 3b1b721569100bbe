"""Access of the correction listener to the preference memory, which works in a thread of its own."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from llm_planner_interfaces.msg import PlanStatus
from rclpy.node import Node

from llm_planner.corrections.learner import Notes, PlanFollower
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion
from llm_planner.errors import LlmPlannerError
from llm_planner.ros.journal_file import memory_path, system_of
from llm_planner.ros.parameters import Setting
from llm_planner.ros.waiting import Worker

MEMORY = Setting("memory", "", "file that keeps what is learned; empty: one of this system in ROS's folder")


class PreferenceFeed:
    """Runs all work on the memory in one thread, in order; `watch(status)` applies lessons to one state of a plan."""

    def __init__(self, node: Node, watch: Callable[[PlanStatus], Awaitable[None]]) -> None:
        self._node, self._watch = node, watch
        self._thread, self._worker = ThreadPoolExecutor(max_workers=1), Worker(node)
        self._store: PreferenceStore | None = None
        self._follower: PlanFollower | None = None
        self._session = str(time.time_ns())
        self._last: tuple[object, ...] = ()
        self._waiting = deque[PlanStatus]()
        self._notes, self._trouble, self._is_closed = Notes(), "", False
        self._unreadable: set[int] = set()  # lessons already logged

    def on_status(self, status: PlanStatus) -> None:
        """Queue a plan status for `watch` if it shows a new state; call it for every status once a scene is known."""
        steps = tuple((step.id, step.status) for step in status.steps)
        now = (status.executor, status.plan_id, status.state, status.version, steps)
        if not status.plan_id or now == self._last:
            return
        self._last = now
        self._waiting.append(status)
        if len(self._waiting) == 1:
            self._node.background(self._follow)

    async def _follow(self) -> None:
        """Pass the queued states to `watch`, one after the other."""
        while self._waiting:
            await self._watch(self._waiting[0])
            self._waiting.popleft()

    async def consult(self, work: Callable[[PlanFollower], Notes]) -> Notes:
        """Run `work` on the memory and return its notes; a failing memory is reported once and raises nothing."""
        job = self._thread.submit(lambda: work(self._opened()))
        try:
            notes: Notes = await self._worker.do(job.result)
        except LlmPlannerError as error:
            told = self._failed(f"nothing is remembered now: {error}")
            return Notes(told, question=self._notes.question)
        self._notes, self._trouble = notes, ""
        unreadable = self._store.unreadable if self._store else {}
        for number in unreadable.keys() - self._unreadable:
            self._unreadable.add(number)
            self._node.get_logger().warning(unreadable[number])
        return notes

    def _failed(self, trouble: str) -> tuple[str, ...]:
        """Log a trouble, and return it for people, only when it is new."""
        before, self._trouble = self._trouble, trouble
        if trouble == before:
            return ()
        self._node.get_logger().warning(trouble)
        return (trouble,)

    def _opened(self) -> PlanFollower:
        if self._follower is None:
            path = memory_path(str(self._node.get_parameter(MEMORY.name).value), *system_of(self._node))
            self._store = PreferenceStore(path)
            self._follower = PlanFollower(Memory(self._store), self._occasion)
        return self._follower

    def _occasion(self, command: str) -> Occasion:
        return Occasion(time.time(), str(self._node.get_parameter("user").value), self._session, command)

    def close(self) -> None:
        """Finish pending work and close the file."""
        if not self._is_closed:
            self._is_closed = True
            self._thread.submit(self._close)
            self._thread.shutdown()

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
