"""Language model on a server: programs, readings of commands and choices, each within a bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from llm_planner.errors import LanguageModelError, LlmPlannerError
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
from llm_planner.language.prompt import REPLY_SCHEMA, messages, repair
from llm_planner.language.reading_prompt import READING_SCHEMA, choice_messages, reading_messages
from llm_planner.language.server.answers import Choice, labels_for, read_answer, read_choice, read_reading, reasoning_in
from llm_planner.language.server.connection import Connection, Hear, Part, ServerSettings, common_parts, unheard
from llm_planner.text import server_text, shortened

_TOP = 20  # tokens with log-probabilities; the maximum of servers
_GUIDES = ("structured_outputs", "guided_choice")
_ROUNDS = 2  # of requests for an answer that can be read
_MOST_SHOWN = 4000  # characters of a refused answer that go back to the model

T = TypeVar("T")


class ServerModel:
    """Language model on an OpenAI-compatible server.

    Answers are streamed and structured if the server supports it; request fields that it refuses are left out from then
    on. An answer that cannot be read is requested once more with the reason. Every method raises `LanguageModelError`
    that says what failed and what to do.

    Args:
        settings: Address, model and limits of the server.
        clock: Monotonic clock [s] for deadlines.
        sleep: Waits between tries [s].
        hear: Called with each request and answer of the server, as `Connection` does.
    """

    name = "openai"
    chooses = True
    is_large = True
    guess = None

    def __init__(
        self,
        settings: ServerSettings,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        hear: Hear = unheard,
    ) -> None:
        self._settings = settings
        self._connection = Connection(settings, clock, sleep, hear=hear)

    @property
    def refused(self) -> frozenset[str]:
        """Names of the optional request parts that the server has refused so far."""
        return frozenset(self._connection.refused)

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """Request a program or question, and further samples; samples that cannot be read are left out."""

        def read(choice: Choice) -> tuple[str, str, str]:
            program, question = read_answer(choice.text)
            if not program and not question and request.function is None:
                raise ValueError("it is neither a program nor a question")
            return program, question, reasoning_in(choice.text)

        chat = messages(request)
        (program, question, reasoning), usage = self._best(chat, REPLY_SCHEMA, read)
        if question:
            return ProgramReply("", question, None, usage)
        samples, more = self._samples(chat, REPLY_SCHEMA, request, request.samples - 1)
        others = (other for other, asked in (read_answer(sample.text) for sample in samples) if other and not asked)
        return ProgramReply(program, "", None, usage + more, tuple(others), reasoning)

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """Request readings, the best first; further samples that cannot be read are left out."""

        def read(choice: Choice) -> Reading:
            reading = read_reading(choice)
            if not (reading.task or reading.constraints or reading.question):
                raise ValueError("it holds no task, no constraint and no question")
            return replace(reading, task="", goals=()) if request.propositions else reading

        chat, usage = reading_messages(request), Usage()
        readings: list[Reading] = []
        if not request.drawn:
            best, usage = self._best(chat, READING_SCHEMA, read)
            readings.append(best)
        samples, more = self._samples(chat, READING_SCHEMA, request, request.samples - len(readings))
        for sample in samples:
            try:
                readings.append(read(sample))
            except ValueError:
                continue
        return ReadingReply(tuple(readings), usage + more)

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """Request the log-probabilities of the options, taken from those of their labels.

        If the server supports it, the answer is constrained to the labels. Without log-probabilities the named option
        is likely and the others are equally unlikely. A single option needs no request.
        """
        if len(request.options) == 1:
            return ChoiceReply((0.0,))
        labels = labels_for(len(request.options))
        chat, usage = choice_messages(request, labels), Usage()
        while True:
            parts = [
                *common_parts(self._settings),
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
                text = _brief(answer.completion.choices[0].text, self._settings)
                raise LanguageModelError(f"{self._settings} chose none of the {len(labels)} options: {text!r}")
            self._connection.refused |= ignored  # it ignored the constraint to labels

    def _best(self, chat: list[Any], schema: dict[str, Any], read: Callable[[Choice], T]) -> tuple[T, Usage]:
        return ask_twice(self._connection, chat, self._writing(schema), read)

    def _samples(
        self, chat: list[Any], schema: dict[str, Any], request: ProgramRequest | ReadingRequest, count: int
    ) -> tuple[list[Choice], Usage]:
        """Request `count` samples, in one request if the server supports it; leave out those that are cut off."""
        found: list[Choice] = []
        usage = Usage()
        while (wanted := count - len(found)) > 0:
            parts = [
                *self._writing(schema, request.temperature),
                Part({"seed": request.seed + len(found)}),
                *([Part({"n": wanted})] if wanted > 1 else []),
            ]
            answer = self._connection.ask(chat, parts)
            given = answer.completion.choices[:wanted]
            if len(given) < wanted:
                self._connection.refused.add("n")  # accepted, but ignored
            found += given
            usage = usage + answer.usage
        return [choice for choice in found if choice.finish != "length"], usage

    def _writing(self, schema: dict[str, Any], temperature: float | None = None) -> list[Part]:
        """Return the optional parts of a request for text, the most useful first."""
        return [
            *common_parts(self._settings, temperature),
            Part({"stream": True}),
            Part({"response_format": {"type": "json_schema", "json_schema": schema}}),
            Part({"stream_options": {"include_usage": True}}),
        ]


def ask_twice(
    connection: Connection,
    chat: list[Any],
    parts: Sequence[Part],
    read: Callable[[Choice], T],
    refusal: str = "That is not the JSON object that was asked for",
) -> tuple[T, Usage]:
    """Return an answer as `read` parses it, with its cost; one that cannot be used goes back once, with the fault.

    `read` raises ValueError or LlmPlannerError. Raises LanguageModelError if there is no answer in time, if it is cut
    off, or if the second cannot be used either.
    """
    usage, settings = Usage(), connection.settings
    problem = text = ""
    for _ in range(_ROUNDS):
        answer = connection.ask(chat, parts)
        choice, usage = answer.completion.choices[0], usage + answer.usage
        if choice.finish == "length":
            raise LanguageModelError(f"{settings} {settings.cut_off}")
        try:
            return read(choice), usage
        except (ValueError, LlmPlannerError) as error:
            problem, text = str(error), choice.text
            chat = [*chat, *repair(shortened(text, _MOST_SHOWN) or "(nothing)", refusal, (problem,))]
    raise LanguageModelError(
        f"{settings} gave an answer that cannot be used, {_ROUNDS} times: {_brief(problem, settings)}; it begins "
        f"{_brief(text, settings)!r}; say it in other words, or choose a larger model"
    )


def _brief(text: str, settings: ServerSettings) -> str:
    return server_text(text, 200, settings.secrets)
