"""Connection to the language model server: its settings, and requests that end within a bounded time."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.http_client import open_client, redirect_of
from llm_planner.language.model import Usage
from llm_planner.language.server.answers import AnswerReader, BrokenAnswerError, Completion, UnusableAnswerError
from llm_planner.text import redacted, redacted_data, secrets_of_url, server_text

if TYPE_CHECKING:
    from openai import OpenAI


TIMEOUT = 120.0  # [s] reasoning models are silent while they think
MAX_TOKENS = 8000
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
FIRST_PAUSE = 0.5  # [s] before the first retry; doubles with every retry
ALLOWANCE = 1.0  # [s] beyond the timeouts, so that a silent server is reported as silent


@dataclass(frozen=True)
class ServerSettings:
    """Address and limits of the language model server.

    Attributes:
        model: Name of the model on the server.
        base_url: Address of the API; None for the OpenAI service.
        api_key: Key of the API.
        timeout: Longest silence during one request [s].
        max_retries: Number of retries, with growing pauses, after a transient failure (no connection, 429, 5xx, a
            broken answer).
        max_tokens: Limit of one answer, reasoning included.
        temperature: Sent only if set, because many servers accept only their default.
        reasoning_effort: One of `EFFORTS`; sent only if set.
    """

    model: str
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    max_retries: int = 2
    max_tokens: int = MAX_TOKENS
    temperature: float | None = None
    reasoning_effort: str = ""

    @property
    def patience(self) -> float:
        """Longest time of one question, with all tries and pauses [s]."""
        pauses = sum(FIRST_PAUSE * 2.0**n for n in range(self.max_retries))
        return self.timeout * (self.max_retries + 1) + pauses + ALLOWANCE

    def __str__(self) -> str:
        return f"the language model server {redacted(self.base_url or 'OpenAI')} (model {self.model})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Key and credentials in the address, which no text may show."""
        return (self.api_key, *secrets_of_url(self.base_url or ""))

    @property
    def cut_off(self) -> str:
        """Error message for an answer that reached `max_tokens`."""
        return f"did not finish within {self.max_tokens} tokens: raise LLM_PLANNER_MAX_TOKENS, or ask for less at once"

    def check(self) -> None:
        """Raise LanguageModelError for an invalid address or key, because the client does not say which is wrong."""
        try:
            url = urlsplit(self.base_url or "https://")
            valid = url.scheme in ("http", "https") and (url.port or 1) > 0
        except ValueError:  # brackets or port
            valid = False
        if not valid:
            raise LanguageModelError(
                f"{self} has no valid address: set OPENAI_BASE_URL to one such as http://localhost:8000/v1"
            )
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            raise LanguageModelError("OPENAI_API_KEY holds characters that no key has (a line break?): set it again")


def settings_from_environment(environment: Mapping[str, str] | None = None) -> ServerSettings:
    """Read the settings from environment variables.

    The variables are `LLM_PLANNER_OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `LLM_PLANNER_` with `TIMEOUT`,
    `MAX_TOKENS`, `TEMPERATURE` or `REASONING_EFFORT`. Only the OpenAI service needs a key.

    Raises:
        InputError: A variable is missing or invalid; the message names it.
    """
    env = os.environ if environment is None else environment
    base_url = env.get("OPENAI_BASE_URL")
    model = env.get("LLM_PLANNER_OPENAI_MODEL")
    if not model:
        raise InputError("the openai model needs a name: set LLM_PLANNER_OPENAI_MODEL to one that your server offers")
    if not env.get("OPENAI_API_KEY") and not base_url:
        raise InputError(
            "set OPENAI_API_KEY, or OPENAI_BASE_URL to a server of your own (such as http://localhost:8000/v1)"
        )
    timeout = _number(env, "LLM_PLANNER_TIMEOUT", TIMEOUT, "a number of seconds above 0")
    max_tokens = int(_number(env, "LLM_PLANNER_MAX_TOKENS", MAX_TOKENS, "a number of tokens, 100 or more", 100.0))
    temperature = None
    if env.get("LLM_PLANNER_TEMPERATURE"):
        temperature = _number(env, "LLM_PLANNER_TEMPERATURE", 0.0, "a number from 0 to 2", 0.0, 2.0)
    effort = env.get("LLM_PLANNER_REASONING_EFFORT", "")
    if effort and effort not in EFFORTS:
        raise InputError(f"LLM_PLANNER_REASONING_EFFORT must be one of {', '.join(EFFORTS)}, not {effort!r}")
    key = env.get("OPENAI_API_KEY") or "none"
    return ServerSettings(
        model, base_url, key, timeout, max_tokens=max_tokens, temperature=temperature, reasoning_effort=effort
    )


def _number(
    env: Mapping[str, str], name: str, default: float, wanted: str, least: float = 1e-9, most: float = 1e9
) -> float:
    """Read a number from an environment variable; raise InputError that describes the `wanted` number."""
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise InputError(f"{name} must be {wanted}, not {text!r}")
    return value


_MAY_PASS = (408, 409, 429)  # transient HTTP status codes, besides 5xx
_NOT_TAKEN = (400, 422)  # HTTP status codes for a request field that the server does not support


@dataclass(frozen=True)
class Part:
    """Optional part of a request: fields that not every server supports, named after the first.

    A part with `instead_of` is sent only after the server has refused the part of that name.
    """

    fields: Mapping[str, Any]
    instead_of: str = ""

    @property
    def name(self) -> str:
        return next(iter(self.fields))


@dataclass(frozen=True)
class Answer:
    """Completion, its cost with all tries, and the names of the optional parts of the request."""

    completion: Completion
    usage: Usage
    sent: frozenset[str]


@dataclass
class _Question:
    """Question in progress, with its deadline and the number of requests sent."""

    messages: list[Any]
    deadline: float  # [s] on the connection's clock
    requests: int = 0


def common_parts(settings: ServerSettings, temperature: float | None = None) -> list[Part]:
    """Return the optional parts of every request, the most useful first.

    `temperature` is for samples; it has no effect where the settings have one.
    """
    chosen = settings.temperature if temperature is None or settings.temperature is None else temperature
    return [
        Part({"max_completion_tokens": settings.max_tokens}),
        Part({"max_tokens": settings.max_tokens}, instead_of="max_completion_tokens"),
        *([Part({"temperature": chosen})] if chosen is not None else []),
        *([Part({"reasoning_effort": settings.reasoning_effort})] if settings.reasoning_effort else []),
    ]


class _FailedError(Exception):
    """Failure of one request; it may be retried if it is `passing`.

    `status` is the HTTP status (0 for none), `wait` the pause that the server asks for [s] (0 for none).
    """

    def __init__(self, message: str, passing: bool, status: int = 0, wait: float = 0.0) -> None:
        super().__init__(message)
        self.passing, self.status, self.wait = passing, status, wait


Hear = Callable[[dict[str, object]], None]


def unheard(exchange: dict[str, object]) -> None:
    """Ignore an exchange."""


@dataclass
class Connection:
    """Connection to one server that remembers which optional parts it refuses; `clock` is monotonic [s].

    Each question is passed to `hear` with its answers or its error, as plain values without secrets.
    """

    settings: ServerSettings
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    refused: set[str] = field(default_factory=set)
    hear: Hear = unheard
    _client: OpenAI | None = None

    def ask(self, messages: list[Any], parts: Sequence[Part]) -> Answer:
        """Send a question and return its answer within `settings.patience`.

        If the server refuses the request, it is sent again without the part at fault: the part that the refusal names,
        or else the last. Once the server accepts such a request, later questions leave out the same parts.

        Args:
            messages: Chat messages.
            parts: Optional parts of the request, the most useful first.

        Raises:
            LanguageModelError: The request failed; the message says why and what to do.
        """
        asked = {"model": self.settings.model, "asks": "chat", "messages": messages}
        try:
            answer = self._answered(messages, parts)
        except LanguageModelError as error:
            self._tell({**asked, "replies": [], "error": str(error)})
            raise
        replies = [choice.text for choice in answer.completion.choices]
        self._tell({**asked, "replies": replies, "usage": str(answer.usage)})
        return answer

    def _tell(self, exchange: dict[str, object]) -> None:
        self.hear(redacted_data(exchange, self.settings.secrets))

    def _answered(self, messages: list[Any], parts: Sequence[Part]) -> Answer:
        self._open()  # the first import of the client may take longer than an answer
        began = self.clock()
        question = _Question(messages, began + self.settings.patience)
        refused = set(self.refused)
        while True:
            sent = [p for p in parts if p.name not in refused and (not p.instead_of or p.instead_of in refused)]
            try:
                completion = self._patiently(question, sent)
            except _FailedError as failure:
                if failure.status not in _NOT_TAKEN or not sent:
                    raise LanguageModelError(f"{self.settings} {failure}") from failure
                said = str(failure)
                named = (p for p in sent if any(re.search(rf"\b{re.escape(name)}\b", said) for name in p.fields))
                refused.add(next(named, sent[-1]).name)  # the part that the refusal names, or else the last
            else:
                self.refused |= refused
                seconds = self.clock() - began
                usage = Usage(completion.prompt_tokens, completion.completion_tokens, question.requests, seconds)
                return Answer(completion, usage, frozenset(part.name for part in sent))

    def close(self) -> None:
        """Close all connections; the next question opens a new one."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _patiently(self, question: _Question, parts: Sequence[Part]) -> Completion:
        """Retry transient failures with growing pauses."""
        tries = 0
        while True:
            tries += 1
            try:
                return self._within_deadline(question, parts)
            except _FailedError as failure:
                pause = self._pause_after(failure, tries, question.deadline - self.clock())
            self.sleep(pause)

    def _pause_after(self, failure: _FailedError, tries: int, left: float) -> float:
        """Return the pause before the next try [s]; raise _FailedError if there is none."""
        if not failure.passing:
            raise failure
        counted = f"{failure}, {tries} times" if tries > 1 else str(failure)
        pause = failure.wait or FIRST_PAUSE * 2.0 ** (tries - 1)
        if tries > self.settings.max_retries or left <= 0.0:
            raise _FailedError(counted, False, failure.status) from failure
        if pause >= left:
            message = f"{counted}; the next try would be in {pause:g} s, but only {left:.2g} s are left"
            raise _FailedError(message, False, failure.status) from failure
        return pause

    def _within_deadline(self, question: _Question, parts: Sequence[Part]) -> Completion:
        """Send in a thread, because a server that trickles bytes keeps every single read alive."""
        future: Future[Completion] = Future()
        client = self._open()
        question.requests += 1
        work = threading.Thread(target=self._work, args=(future, client, question, parts), daemon=True)
        work.start()
        try:
            return future.result(max(0.0, question.deadline - self.clock()))
        except FutureTimeoutError:
            self.close()  # also ends the thread
            message = f"did not come to an end with its answer within {self.settings.patience:g} s"
            raise _FailedError(message, False) from None

    def _work(self, future: Future[Completion], client: OpenAI, question: _Question, parts: Sequence[Part]) -> None:
        try:
            future.set_result(self._exchange(client, question, parts))
        except _FailedError as failure:
            future.set_exception(failure)
        except Exception as error:  # a malformed answer can break the client in any way
            what = f"{type(error).__name__}: {self._brief(str(error))}"
            message = f"cannot be asked, or gave an answer that cannot be used: {what}"
            future.set_exception(_FailedError(message, False))

    def _exchange(self, client: OpenAI, question: _Question, parts: Sequence[Part]) -> Completion:
        import openai

        fields = {name: value for part in parts for name, value in part.fields.items()}
        patience = min(self.settings.timeout, max(0.001, question.deadline - self.clock()))
        try:
            with client.chat.completions.with_streaming_response.create(
                model=self.settings.model, messages=question.messages, extra_body=fields, timeout=patience
            ) as response:
                return self._read(response.headers.get("content-type", ""), response.iter_bytes(), patience)
        except openai.APITimeoutError as error:
            raise _FailedError(f"did not answer within {patience:.3g} s", True) from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIConnectionError as error:
            raise _FailedError("cannot be reached; is it running, and is OPENAI_BASE_URL right?", True) from error

    def _read(self, content_type: str, chunks: Any, patience: float) -> Completion:
        heard = self.clock()
        try:
            reader = AnswerReader(content_type)
            for chunk in chunks:
                heard = self.clock()
                reader.feed(chunk)
                if reader.is_done:
                    break
            return reader.finish()
        except UnusableAnswerError as error:
            raise _FailedError(self._brief(str(error)), False) from error
        except BrokenAnswerError as error:
            raise _FailedError(str(error), True) from error
        except Exception as error:  # raised by any library that carries the connection
            silent = self.clock() - heard >= 0.9 * patience
            how = f"fell silent for {patience:.3g} s" if silent else "broke off"
            raise _FailedError(f"{how} in the middle of its answer", True) from error

    def _open(self) -> OpenAI:
        if self._client is None:
            s = self.settings
            s.check()
            self._client = open_client(s.base_url, s.api_key, s.timeout)
        return self._client

    def _refusal(self, error: Any) -> _FailedError:
        status, headers = int(error.status_code), error.response.headers
        elsewhere = redirect_of(status, headers, self.settings.secrets)
        if elsewhere:
            return _FailedError(f"{elsewhere} as OPENAI_BASE_URL", False, status)
        try:
            wait = max(0.0, float(headers.get("retry-after", "0")))
        except ValueError:  # a date; the default pause is used
            wait = 0.0
        message = f"refused the request ({status}): {self._brief(error.message)}"
        passing = status in _MAY_PASS or status >= 500
        return _FailedError(message, passing, status, wait if wait < float("inf") else 0.0)

    def _brief(self, text: str) -> str:
        return server_text(text, 300, self.settings.secrets)
