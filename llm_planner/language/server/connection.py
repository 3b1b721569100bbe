"""Questions to the server and its answers, within a bounded time and whatever the server does.

Where the language model server is, and how long to wait for it.
"""

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
from llm_planner.language.server.completion import AnswerReader, BrokenAnswerError, Completion, UnusableAnswerError
from llm_planner.text import redacted, secrets_of_url, server_text

if TYPE_CHECKING:
    from openai import OpenAI


TIMEOUT = 120.0  # [s] a model that thinks says nothing meanwhile
MAX_TOKENS = 8000
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
FIRST_PAUSE = 0.5  # [s] before a failed request is sent again; doubled every time
ALLOWANCE = 1.0  # [s] for all else, so that a silence is told as one


@dataclass(frozen=True)
class ServerSettings:
    """Where the server is and how long to wait for it.

    `timeout` [s] is the longest silence of one request, `max_tokens` the most that one answer may take, thoughts
    included. `temperature` and `reasoning_effort` are sent only where they are set: many servers take no other than
    their own. Failures that may pass (no connection, 429, 5xx, a broken answer) are tried `max_retries` times more,
    with growing pauses.
    """

    model: str
    base_url: str | None = None  # None is the OpenAI service itself
    api_key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    max_retries: int = 2
    max_tokens: int = MAX_TOKENS
    temperature: float | None = None
    reasoning_effort: str = ""

    @property
    def patience(self) -> float:
        """The most time that one question may take, with all its tries and pauses [s]."""
        pauses = sum(FIRST_PAUSE * 2.0**n for n in range(self.max_retries))
        return self.timeout * (self.max_retries + 1) + pauses + ALLOWANCE

    def __str__(self) -> str:
        return f"the language model server {redacted(self.base_url or 'OpenAI')} (model {self.model})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text may show: the key, and the credentials in the address."""
        return (self.api_key, *secrets_of_url(self.base_url or ""))

    @property
    def cut_off(self) -> str:
        """What to say of an answer that did not come to its end."""
        return f"did not finish within {self.max_tokens} tokens: raise LLM_PLANNER_MAX_TOKENS, or ask for less at once"

    def check(self) -> None:
        """The client itself fails on these in ways that do not say which setting is wrong; keys are never shown.

        Raises `LanguageModelError`.
        """
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
    """Settings from `LLM_PLANNER_OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`, and `LLM_PLANNER_` with `TIMEOUT`,
    `MAX_TOKENS`, `TEMPERATURE` and `REASONING_EFFORT`.

    A server of one's own needs no key. Raises `InputError` that says which variable to set.
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
    """The number in a variable of the environment; raises InputError that says what is `wanted`."""
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise InputError(f"{name} must be {wanted}, not {text!r}")
    return value


_MAY_PASS = (408, 409, 429)  # and everything from 500 on
_NOT_TAKEN = (400, 422)  # the request has something in it that the server does not take


@dataclass(frozen=True)
class Part:
    """An optional part of a request: fields that not every server takes, known by the name of the first.

    One that stands `instead_of` another is sent once the server has refused that.
    """

    fields: Mapping[str, Any]
    instead_of: str = ""

    @property
    def name(self) -> str:
        return next(iter(self.fields))


@dataclass(frozen=True)
class Answer:
    """A completion, what it cost with all tries, and the names of the optional parts it was asked with."""

    completion: Completion
    usage: Usage
    sent: frozenset[str]


@dataclass
class _Question:
    """One question on its way: how long it may still take, and how often it was sent."""

    messages: list[Any]
    deadline: float  # [s] on the connection's clock
    requests: int = 0


def common_parts(settings: ServerSettings, temperature: float | None = None) -> list[Part]:
    """Optional parts of every request, the most useful first; `temperature` is for samples."""
    chosen = settings.temperature if temperature is None or settings.temperature is None else temperature
    return [
        Part({"max_completion_tokens": settings.max_tokens}),
        Part({"max_tokens": settings.max_tokens}, instead_of="max_completion_tokens"),
        *([Part({"temperature": chosen})] if chosen is not None else []),
        *([Part({"reasoning_effort": settings.reasoning_effort})] if settings.reasoning_effort else []),
    ]


class _FailedError(Exception):
    """One request failed; `status` is the server's (0: none), `wait` [s] what it asks for before the next (0: nothing).

    `passing` failures may be tried again.
    """

    def __init__(self, message: str, passing: bool, status: int = 0, wait: float = 0.0) -> None:
        super().__init__(message)
        self.passing, self.status, self.wait = passing, status, wait


@dataclass
class Connection:
    """Asks one server, and remembers which optional parts it does not take. `clock` [s] is monotonic."""

    settings: ServerSettings
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    refused: set[str] = field(default_factory=set)
    _client: OpenAI | None = None

    def ask(self, messages: list[Any], parts: Sequence[Part]) -> Answer:
        """The answer; raises `LanguageModelError` saying what failed and what to do, within `settings.patience`.

        Where the server refuses the request, it is sent again without the part at fault: the one that the refusal
        names, else the last. What is left out is remembered once the same request is taken without it.
        """
        self._open()  # which may take longer than an answer, the first time
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
                refused.add(_at_fault(str(failure), sent).name)
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
        """Tries again what may pass, with growing pauses."""
        tries = 0
        while True:
            tries += 1
            try:
                return self._within_deadline(question, parts)
            except _FailedError as failure:
                pause = self._pause_after(failure, tries, question.deadline - self.clock())
            self.sleep(pause)

    def _pause_after(self, failure: _FailedError, tries: int, left: float) -> float:
        """How long to wait [s] before the next try; raises _FailedError where there is to be none."""
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
        """In a thread of its own: a server that sends a byte now and then keeps every single read alive."""
        future: Future[Completion] = Future()
        client = self._open()
        question.requests += 1
        work = threading.Thread(target=self._work, args=(future, client, question, parts), daemon=True)
        work.start()
        try:
            return future.result(max(0.0, question.deadline - self.clock()))
        except FutureTimeoutError:
            self.close()  # which ends the thread too
            message = f"did not come to an end with its answer within {self.settings.patience:g} s"
            raise _FailedError(message, False) from None

    def _work(self, future: Future[Completion], client: OpenAI, question: _Question, parts: Sequence[Part]) -> None:
        try:
            future.set_result(self._exchange(client, question, parts))
        except _FailedError as failure:
            future.set_exception(failure)
        except Exception as error:  # what a server sends can break the client in any way
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
        except Exception as error:  # the connection's, whatever library it is made of
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
        except ValueError:  # a date: our own pause will do
            wait = 0.0
        message = f"refused the request ({status}): {self._brief(error.message)}"
        passing = status in _MAY_PASS or status >= 500
        return _FailedError(message, passing, status, wait if wait < float("inf") else 0.0)

    def _brief(self, text: str) -> str:
        return server_text(text, 300, self.settings.secrets)


def _at_fault(refusal: str, parts: Sequence[Part]) -> Part:
    named = (part for part in parts if any(re.search(rf"\b{re.escape(name)}\b", refusal) for name in part.fields))
    return next(named, parts[-1])
