"""What was learned from corrections, beside the listener: lessons for the plan under way, and what is taught now."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from llm_planner_interfaces.msg import PlanStatus
from llm_planner_interfaces.srv import EditPlan
from rclpy.node import Node

from llm_planner.correction.dialogue import Answer, Outcome, told, with_told
from llm_planner.correction.learner import OfMemory, Told
from llm_planner.correction.memory.lesson import Occasion
from llm_planner.correction.memory.lesson_store import LessonStore
from llm_planner.correction.memory.memory import Memory
from llm_planner.correction.plan_follower import Notes, PlanFollower, Seen, Wish
from llm_planner.correction.situation import Situation
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.journal_file import memory_path
from llm_planner.nodes.settings import Setting
from llm_planner.nodes.worker import Worker
from llm_planner.plan.edits import AddRule, Clarify, Edit, Hold

MEMORY = Setting("memory", "", "file that keeps what is learned; empty: llm_planner/memory.sqlite in ROS's folder")
RULE_LEFT_OUT = "I wait, for that is a rule: say “go on” to do it all the same, or “stop”"
Code = EditPlan.Response


class LessonFeed:
    """All of the memory's work is done in one thread, in the order in which it was asked for.

    `situation(status)` is that of a plan, `send(edit, plan_id)` has the executor make an edit, `tell(answer)` is for
    what is said unasked.
    """

    def __init__(
        self,
        node: Node,
        situation: Callable[[PlanStatus], Situation],
        send: Callable[[Edit, str], Awaitable[EditPlan.Response]],
        tell: Callable[[Answer], None],
    ) -> None:
        self._node, self._situation, self._send, self._tell = node, situation, send, tell
        self.question: Clarify | None = None
        self._told: Clarify | None = None  # the question that was put last
        self._thread, self._worker = ThreadPoolExecutor(max_workers=1), Worker(node)
        self._store: LessonStore | None = None
        self._follower: PlanFollower | None = None
        self._session = str(time.time_ns())
        self._last: tuple[object, ...] = ()
        self._waiting = deque[PlanStatus]()
        self._trouble, self._is_closed = "", False
        self._unreadable: set[int] = set()  # lessons that were told of

    def ask(self) -> None:
        """Put memory's question, where one has come up."""
        if self.question is not None and self.question is not self._told:
            self._tell(Answer(Outcome.QUESTION, told(self.question)))
        self._told = self.question

    # Something was said

    async def chosen(self, words: str) -> Told:
        """What is told where the words answer memory's question which of several lessons holds."""
        return (await self._noted(partial(PlanFollower.chosen, words=words))).told

    async def answered(self, edit: Edit) -> Told:
        """What is told where the edit answers memory's question whether it is always to be so."""
        return (await self._noted(partial(PlanFollower.answered, edit=edit))).told

    async def asked_for(self, operations: OfMemory, answer: Answer) -> Answer:
        """The answer with what is told of what is to be kept or dropped, or asked of it."""
        before = self.question
        answer = with_told(answer, (await self._noted(partial(PlanFollower.asked_for, operations=operations))).told)
        if self.question is None or self.question is before:
            return answer
        self._told = self.question
        return replace(with_told(answer, (told(self.question),)), outcome=Outcome.QUESTION)

    async def taught(self, edit: Edit, situation: Situation) -> Told:
        """What is told of an edit that was made; `situation` is as it was when it was said."""
        return (await self._noted(partial(PlanFollower.taught, edit=edit, situation=situation))).told

    # The plan goes on

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
        """One state after the other; where an edit was refused, what else there is for the same state."""
        while self._waiting:
            status = self._waiting[0]
            notes = await self._looked(status)
            self._say(notes)
            if notes.wish is None or not await self._is_refused(notes.wish, status.plan_id):
                self._waiting.popleft()

    async def _looked(self, status: PlanStatus) -> Notes:
        try:
            seen = _seen(status, self._situation(status))
        except LlmPlannerError as error:
            self._node.get_logger().warning(f"no lessons are used for what the executor tells of: {error}")
            return Notes()
        return await self._noted(partial(PlanFollower.looked, seen=seen))

    async def _is_refused(self, wish: Wish, plan_id: str) -> bool:
        """Send the edit; one that the plan has outrun is wished for again when the plan's new state is heard."""
        try:
            response = await self._send(wish.edit, plan_id)
        except LlmPlannerError as error:
            self._node.get_logger().warning(str(error))
            return False
        if response.error_code == Code.ACCEPTED:
            self._say(await self._noted(partial(PlanFollower.made, wish=wish)))
        elif response.error_code not in (Code.STALE, Code.NO_PLAN):
            notes = await self._noted(partial(PlanFollower.refused, wish=wish, reason=response.error_msg))
            self._say(notes)
            if notes.told and any(isinstance(one, AddRule) for one in wish.edit.operations):
                await self._send(Edit((Hold(),)), plan_id)  # nobody but the person drops a rule
                self._tell(Answer(Outcome.APPLIED, RULE_LEFT_OUT))
            return True
        return False

    def _say(self, notes: Notes) -> None:
        for line in notes.told:
            self._tell(Answer(Outcome.APPLIED, line))
        self.ask()

    # The thread

    async def _noted(self, work: Callable[[PlanFollower], Notes]) -> Notes:
        """What comes of it; a memory that cannot be opened or written is told of, and is nothing else's fault."""
        job = self._thread.submit(lambda: work(self._opened()))
        try:
            notes: Notes = await self._worker.do(job.result)
        except LlmPlannerError as error:
            return Notes(self._failed(f"nothing is remembered now: {error}"))
        self.question, self._trouble = notes.question, ""
        unreadable = self._store.unreadable if self._store else {}
        for number in unreadable.keys() - self._unreadable:
            self._unreadable.add(number)
            self._node.get_logger().warning(unreadable[number])
        return notes

    def _failed(self, trouble: str) -> Told:
        """It is told once, not of every step."""
        before, self._trouble = self._trouble, trouble
        if trouble == before:
            return ()
        self._node.get_logger().warning(trouble)
        return (trouble,)

    def _opened(self) -> PlanFollower:
        if self._follower is None:
            self._store = LessonStore(memory_path(str(self._node.get_parameter(MEMORY.name).value)))
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


def _seen(status: PlanStatus, situation: Situation) -> Seen:
    return Seen(
        status.plan_id,
        situation,
        moving=status.state == PlanStatus.RUNNING,
        done=status.state == PlanStatus.SUCCEEDED,
        dropped=status.state == PlanStatus.STOPPED,
    )
