"""The memory beside the listener: in a thread of its own, and shown one state of the plan after the other."""

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
from llm_planner.ros.journal_file import memory_path
from llm_planner.ros.parameters import Setting
from llm_planner.ros.waiting import Worker

MEMORY = Setting("memory", "", "file that keeps what is learned; empty: llm_planner/memory.sqlite in ROS's folder")


class PreferenceFeed:
    """All of the memory's work is done in one thread, in the order in which it was asked for.

    `watch(status)` brings lessons into force for one state of a plan.
    """

    def __init__(self, node: Node, watch: Callable[[PlanStatus], Awaitable[None]]) -> None:
        self._node, self._watch = node, watch
        self._thread, self._worker = ThreadPoolExecutor(max_workers=1), Worker(node)
        self._store: PreferenceStore | None = None
        self._follower: PlanFollower | None = None
        self._session = str(time.time_ns())
        self._last: tuple[object, ...] = ()
        self._waiting = deque[PlanStatus]()
        self._notes, self._trouble, self._is_closed = Notes(), "", False
        self._unreadable: set[int] = set()  # lessons that were told of

    def on_status(self, status: PlanStatus) -> None:
        """To be called with everything that the executor says, once a scene was seen."""
        steps = tuple((step.id, step.status) for step in status.steps)
        now = (status.executor, status.plan_id, status.state, status.version, steps)
        if not status.plan_id or now == self._last:
            return
        self._last = now
        self._waiting.append(status)
        if len(self._waiting) == 1:
            self._node.background(self._follow)

    async def _follow(self) -> None:
        """One state after the other."""
        while self._waiting:
            await self._watch(self._waiting[0])
            self._waiting.popleft()

    async def consult(self, work: Callable[[PlanFollower], Notes]) -> Notes:
        """What comes of it; a memory that cannot be opened or written is told of, and is nothing else's fault."""
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
        """It is told once, not of every step."""
        before, self._trouble = self._trouble, trouble
        if trouble == before:
            return ()
        self._node.get_logger().warning(trouble)
        return (trouble,)

    def _opened(self) -> PlanFollower:
        if self._follower is None:
            self._store = PreferenceStore(memory_path(str(self._node.get_parameter(MEMORY.name).value)))
            self._follower = PlanFollower(Memory(self._store), self._occasion)
        return self._follower

    def _occasion(self, command: str) -> Occasion:
        return Occasion(time.time(), str(self._node.get_parameter("user").value), self._session, command)

    def close(self) -> None:
        """Let what is being kept be kept, and free the file."""
        if not self._is_closed:
            self._is_closed = True
            self._thread.submit(self._close)
            self._thread.shutdown()

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
