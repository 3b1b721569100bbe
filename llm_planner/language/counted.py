"""A language model that keeps count of what its answers cost."""

from __future__ import annotations

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


class CountedModel:
    """Asks `model`; `usage` is what all answers since then have cost together, readings, programs and choices."""

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.chooses = model.name, model.chooses
        self.usage = Usage()
        self._model = model

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """See `LanguageModel`."""
        reply = self._model.write_program(request)
        self.usage += reply.usage
        return reply

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """See `LanguageModel`."""
        reply = self._model.read_command(request)
        self.usage += reply.usage
        return reply

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """See `LanguageModel`."""
        reply = self._model.choose(request)
        self.usage += reply.usage
        return reply
