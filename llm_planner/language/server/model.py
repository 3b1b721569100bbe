"""A server as a language model: programs, readings of commands and choices, each within a bounded time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from llm_planner.errors import LanguageModelError
from llm_planner.language.choice_prompt import choice_messages
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    Reading,
    ReadingReply,
    ReadingRequest,
    Usage,
)
from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.language.prompt import REPLY_SCHEMA, messages
from llm_planner.language.reading_prompt import READING_SCHEMA, reading_messages
from llm_planner.language.server.answers import labels_for, read_answer, read_choice, read_reading
from llm_planner.language.server.completion import Choice
from llm_planner.language.server.connection import Connection, Part
from llm_planner.language.server.settings import ServerSettings

_TOP = 20  # tokens listed with their log-probabilities; no server lists more
_GUIDES = ("structured_outputs", "guided_choice")


class ServerModel:
    """Asks an OpenAI-compatible server. Every method raises `LanguageModelError` saying what failed and what to do.

    Answers are streamed and structured where the server can; what it cannot is left out from then on. `clock` [s] is
    monotonic; it and `sleep` bound how long a question may take.
    """

    name = "openai"
    chooses = True

    def __init__(
        self,
        settings: ServerSettings,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._connection = Connection(settings, clock, sleep)

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """The server's program or question, and further programs, fewer than asked for where some cannot be read.

        The confidence is the probability that the server gives to exactly this text.
        """
        chat = messages(request)
        best, usage = self._best(chat, REPLY_SCHEMA)
        program, question = read_answer(best.text)
        if not program and not question and request.function is None:
            raise LanguageModelError(
                f"{self._settings} answered neither a program nor a question: {_brief(best.text)!r}"
            )
        sure = None if best.log_probability is None else math.exp(best.log_probability)
        if question:  # in doubt it asks
            return ProgramReply("", question, sure, usage)
        samples, more = self._samples(chat, REPLY_SCHEMA, request)
        others = (other for other, asked in (read_answer(sample.text) for sample in samples) if other and not asked)
        return ProgramReply(program, "", sure, usage + more, tuple(others))

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """The server's readings, the best first; further samples that cannot be read are left out."""
        chat = reading_messages(request)
        best, usage = self._best(chat, READING_SCHEMA)
        try:
            readings = [_checked(read_reading(best), request)]
        except ValueError as error:
            raise LanguageModelError(
                f"{self._settings} gave a reading that cannot be used: {_brief(str(error))}; "
                f"it begins {_brief(best.text)!r}"
            ) from error
        samples, more = self._samples(chat, READING_SCHEMA, request)
        for sample in samples:
            try:
                readings.append(_checked(read_reading(sample), request))
            except ValueError:
                continue
        return ReadingReply(tuple(readings), usage + more)

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """Log-probabilities of the options: from those of their labels, which the server is bound to where it can be.

        Where it gives none, the option that it names is likely and all others are equally unlikely. About a single
        option it is not asked.
        """
        if len(request.options) == 1:
            return ChoiceReply((0.0,))
        labels = labels_for(len(request.options))
        chat, usage = choice_messages(request, labels), Usage()
        while True:
            parts = [
                *self._common(),
                Part({"logprobs": True, "top_logprobs": _TOP}),
                Part({"structured_outputs": {"choice": labels}}),
                Part({"guided_choice": labels}, instead_of="structured_outputs"),
            ]
            answer = self._connection.ask(chat, parts)
            usage = usage + answer.usage
            found = read_choice(answer.completion.choices[0], labels)
            if found:
                return ChoiceReply(found, usage)
            ignored = answer.sent & set(_GUIDES)
            if not ignored:
                text = _brief(answer.completion.choices[0].text)
                raise LanguageModelError(f"{self._settings} chose none of the {len(labels)} options: {text!r}")
            self._connection.refused |= ignored  # it was bound to a label and gave something else

    def _best(self, chat: list[Any], schema: dict[str, Any]) -> tuple[Choice, Usage]:
        """The likeliest answer."""
        answer = self._connection.ask(chat, self._writing(schema))
        choice = answer.completion.choices[0]
        if choice.finish == "length":
            raise LanguageModelError(f"{self._settings} did not finish within {self._settings.max_tokens} tokens")
        return choice, answer.usage

    def _samples(
        self, chat: list[Any], schema: dict[str, Any], request: ProgramRequest | ReadingRequest
    ) -> tuple[list[Choice], Usage]:
        """All but the first of the samples, at once where the server can; those cut off are left out."""
        found: list[Choice] = []
        usage = Usage()
        while (wanted := request.samples - 1 - len(found)) > 0:
            parts = [
                *self._writing(schema, request.temperature),
                Part({"seed": request.seed + len(found)}),
                Part({"n": wanted}),
            ]
            answer = self._connection.ask(chat, parts)
            given = answer.completion.choices[:wanted]
            if len(given) < wanted:
                self._connection.refused.add("n")  # taken, but not obeyed
            found += given
            usage = usage + answer.usage
        return [choice for choice in found if choice.finish != "length"], usage

    def _writing(self, schema: dict[str, Any], temperature: float = 0.0) -> list[Part]:
        """Optional parts of a request for text, the most useful first."""
        return [
            *self._common(temperature),
            Part({"stream": True}),
            Part({"response_format": {"type": "json_schema", "json_schema": schema}}),
            Part({"logprobs": True}),
            Part({"stream_options": {"include_usage": True}}),
        ]

    def _common(self, temperature: float = 0.0) -> list[Part]:
        most = self._settings.max_tokens
        return [
            Part({"max_tokens": most}),
            Part({"max_completion_tokens": most}, instead_of="max_tokens"),
            Part({"temperature": temperature}),
        ]


def _checked(reading: Reading, request: ReadingRequest) -> Reading:
    """Raises ValueError for a reading that says nothing."""
    if not (reading.task or reading.constraints or reading.question):
        raise ValueError("it holds no task, no constraint and no question")
    return replace(reading, task="") if request.propositions else reading


def _brief(text: str) -> str:
    return shortened(plain_text(text[:2000]), 200)
