"""Language models and the preference memory, which work in threads, so that the node answers to a stop meanwhile."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future as ThreadFuture
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Generic, TypeVar

from llm_planner_interfaces.msg import PlanStatus
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.corrections.learner import Notes, PlanFollower
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion
from llm_planner.errors import LanguageModelError, LlmPlannerError
from llm_planner.language.factory import check_model, open_model
from llm_planner.language.model import HeardModel, LanguageModel, ProgramRequest
from llm_planner.planning.planned import Planned
from llm_planner.ros.base_node import COMMANDS, BaseNode
from llm_planner.ros.journal_file import memory_path, system_of
from llm_planner.ros.parameters import Setting
from llm_planner.ros.waiting import FaultError, Worker
from llm_planner.scene.scene import Scene
from llm_planner.text import redacted_data

Answer = Planned | LlmPlannerError
Model = TypeVar("Model")


class ModelThread(Generic[Model]):
    """Model opened in the background; its answers arrive in the node's executor."""

    def __init__(self, node: BaseNode, open_model: Callable[[], Model]) -> None:
        self._worker = Worker(node)
        self._model: ThreadFuture[Model] = ThreadFuture()
        self._log = node.get_logger()
        self._worker.do(lambda: self._open(open_model))

    @property
    def is_ready(self) -> bool:
        return self._model.done() and self._model.exception() is None

    def asked(self, ask: Callable[[Model], object]) -> Future:
        """Run `ask(model)` in a thread of its own, and return a future of its result."""
        return self._worker.do(lambda: ask(self._model.result()))

    def ask(self, ask: Callable[[Model], Planned], on_answer: Callable[[Answer], None]) -> None:
        """Run `ask(model)` in a thread and pass the plan or the error to `on_answer`."""

        def answered(future: Future) -> None:
            error = future.exception()
            if isinstance(error, FaultError):
                error = LanguageModelError(str(error))
            on_answer(error or future.result())

        self.asked(ask).add_done_callback(answered)

    def _open(self, open_model: Callable[[], Model]) -> None:
        try:
            self._model.set_result(open_model())
        except Exception as error:
            self._log.error(str(error))
            self._model.set_exception(LanguageModelError(str(error)))


def published_exchanges(node: BaseNode) -> Callable[[dict[str, object]], None]:
    """Return a function that publishes what a model is asked and replies on `model_exchange`, as JSON without secrets.

    Any thread may call it.
    """
    exchanges = node.create_lifecycle_publisher(String, "model_exchange", COMMANDS)

    def hear(exchange: dict[str, object]) -> None:
        node.background(exchanges.publish, String(data=json.dumps(redacted_data(exchange), ensure_ascii=False)))

    return hear


class PlannerModels:
    """Language models that read commands: the planner's `own`, and others, opened on first use.

    What they are asked and reply is published on `model_exchange`.

    Args:
        node: Node that receives the answers.
        name: Name of the planner's own model.
        script: File with the scripted model's replies; "" for none.
    """

    def __init__(self, node: BaseNode, name: str, script: str) -> None:
        self._node, self._name, self._script = node, name, script
        self._hear = published_exchanges(node)
        self._opened: dict[str, ModelThread[LanguageModel]] = {}
        self.own = self.named(name)

    def named(self, name: str) -> ModelThread[LanguageModel]:
        """Return the model of this name, "" for the planner's own; raise InputError if it does not exist."""
        name = name or self._name
        if name not in self._opened:
            replies = self._script if name in ("scripted", self._name) else ""
            script = Path(replies) if replies else None
            check_model(name, script)
            self._opened[name] = ModelThread(self._node, lambda: self._warm(name, script))
        return self._opened[name]

    def _warm(self, name: str, script: Path | None) -> LanguageModel:
        """Open a model; ask the embedded one once, since its first answer takes longest."""
        model = open_model(name, script, self._hear)
        if name == "embedded":
            model.write_program(ProgramRequest("go home", Scene(0.0, ())))
        return HeardModel(model, self._hear)


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
        if not self._is_closed:
            self._is_closed = True
            self._thread.submit(lambda: self._store and self._store.close())
            self._thread.shutdown()
