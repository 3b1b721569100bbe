"""Asks the language model in threads, so that the node answers to a stop while the model thinks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from rclpy.node import Node

from llm_planner.errors import LanguageModelError, LlmPlannerError
from llm_planner.language.model import LanguageModel
from llm_planner.plan.planning import Planned

Answer = Planned | LlmPlannerError
Ask = Callable[[LanguageModel], Planned]


class ModelThread:
    """Opens the model at once in the background; answers arrive in the node's executor, never in a thread."""

    def __init__(self, node: Node, open_model: Callable[[], LanguageModel]) -> None:
        self._answers: queue.SimpleQueue[tuple[Callable[[Answer], None], Answer]] = queue.SimpleQueue()
        self._wake = node.create_guard_condition(self._deliver)
        self._model: Future[LanguageModel] = Future()
        self._log = node.get_logger()
        threading.Thread(target=self._open, args=(open_model,), daemon=True).start()

    @property
    def is_ready(self) -> bool:
        """Whether the model has been opened."""
        return self._model.done() and self._model.exception() is None

    def ask(self, ask: Ask, on_answer: Callable[[Answer], None]) -> None:
        """Run `ask(model)` in a thread of its own: one that hangs holds up nobody else."""
        threading.Thread(target=self._work, args=(ask, on_answer), daemon=True).start()

    def _open(self, open_model: Callable[[], LanguageModel]) -> None:
        try:
            self._model.set_result(open_model())
        except LlmPlannerError as error:
            self._log.error(str(error))
            self._model.set_exception(LanguageModelError(str(error)))

    def _work(self, ask: Ask, on_answer: Callable[[Answer], None]) -> None:
        answer: Answer
        try:
            answer = ask(self._model.result())
        except LlmPlannerError as error:
            answer = error
        except Exception as error:  # a fault of ours in the model must not leave the person without an answer
            self._log.error(f"a fault while planning: {type(error).__name__}: {error}")
            answer = LanguageModelError(f"planning failed by a fault of this program ({type(error).__name__}: {error})")
        self._answers.put((on_answer, answer))
        self._wake.trigger()

    def _deliver(self) -> None:
        while not self._answers.empty():
            on_answer, answer = self._answers.get()
            on_answer(answer)
