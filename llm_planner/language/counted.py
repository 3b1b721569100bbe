"""A language model that keeps count of what its answers cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    LanguageModel,
    ProgramReply,
    ProgramRequest,
    ReadingReply,
    ReadingRequest,
    Usage,
)

Waiting = Callable[[], AbstractContextManager[object]]  # entered while the model thinks


class CountedModel:
    """Asks `model`; `usage` is what all answers since then have cost together, readings, programs and choices."""

    def __init__(self, model: LanguageModel, waiting: Waiting = nullcontext) -> None:
        self.name, self.chooses, self.is_large = model.name, model.chooses, model.is_large
        self.usage = Usage()
        self._model, self._waiting = model, waiting

    @property
    def guess(self) -> CountedModel | None:
        """See `LanguageModel`; what it costs is not counted: no model that guesses costs anything."""
        guess = self._model.guess
        return None if guess is None else CountedModel(guess, self._waiting)

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.write_program(request)
        self.usage += reply.usage
        return reply

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.read_command(request)
        self.usage += reply.usage
        return reply

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.choose(request)
        self.usage += reply.usage
        return reply
