"""Background threads for language models, so that the node answers to a stop while a model runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future as ThreadFuture
from pathlib import Path
from typing import Generic, TypeVar

from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.errors import LanguageModelError, LlmPlannerError
from llm_planner.language.factory import check_model, open_model
from llm_planner.language.model import HeardModel, LanguageModel, ProgramRequest
from llm_planner.planning.planned import Planned
from llm_planner.ros.base_node import COMMANDS, BaseNode
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
        """Whether the model has been opened."""
        return self._model.done() and self._model.exception() is None

    def asked(self, ask: Callable[[Model], object]) -> Future:
        """Run `ask(model)` in a thread of its own, and return a future of its result."""
        return self._worker.do(lambda: ask(self._model.result()))

    def ask(self, ask: Callable[[Model], Planned], on_answer: Callable[[Answer], None]) -> None:
        """Run `ask(model)` in a thread and pass the plan or the error to `on_answer`."""
        self.asked(ask).add_done_callback(lambda future: on_answer(_answer(future)))

    def _open(self, open_model: Callable[[], Model]) -> None:
        try:
            self._model.set_result(open_model())
        except Exception as error:
            self._log.error(str(error))
            self._model.set_exception(LanguageModelError(str(error)))


class PlannerModels:
    """Language models that read commands: the planner's `own`, and others, opened on first use.

    What they are asked and reply is published on `model_exchange` as JSON, without secrets.

    Args:
        node: Node that receives the answers.
        name: Name of the planner's own model.
        script: File with the scripted model's replies; "" for none.
    """

    def __init__(self, node: BaseNode, name: str, script: str) -> None:
        self._node, self._name, self._script = node, name, script
        self._exchanges = node.create_lifecycle_publisher(String, "model_exchange", COMMANDS)
        self._opened: dict[str, ModelThread[LanguageModel]] = {}
        self.own = self.named(name)

    def named(self, name: str) -> ModelThread[LanguageModel]:
        """Return the model of this name, "" for the planner's own; raise InputError if it does not exist."""
        name = name or self._name
        if name not in self._opened:
            replies = self._script if name in ("scripted", self._name) else ""
            script = Path(replies) if replies else None
            check_model(name, script)
            self._opened[name] = ModelThread(self._node, lambda: HeardModel(_warm(name, script), self._hear))
        return self._opened[name]

    def _hear(self, exchange: dict[str, object]) -> None:
        """Publish an exchange, which a thread has had, from the node's executor."""
        text = json.dumps(redacted_data(exchange), ensure_ascii=False)
        self._node.background(self._exchanges.publish, String(data=text))


def _warm(name: str, script: Path | None) -> LanguageModel:
    """Open a model; ask the embedded one once, since its first answer takes longest."""
    model = open_model(name, script)
    if name == "embedded":
        model.write_program(ProgramRequest("go home", Scene(0.0, ())))
    return model


def _answer(future: Future) -> Answer:
    error = future.exception()
    if error is None:
        return future.result()
    return LanguageModelError(str(error)) if isinstance(error, FaultError) else error
