"""Parser of chat completions from the bytes of a server: one JSON object, or server-sent events.

The server is not trusted: the number of bytes, the length of texts and the type of every field are checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

MAX_BYTES = 16_000_000  # of one answer; log-probabilities take hundreds of bytes per token
MAX_CHARACTERS = 40_000  # of one text; four times the longest program
MOST_TOLD = 5000  # characters of server text in an error; cut further after secrets are removed
LEAST = -9999.0  # log-probability that servers write for impossible tokens

T = TypeVar("T")


class UnusableAnswerError(Exception):
    """Unusable answer that a retry would not mend. The message continues "the server ..."."""


class BrokenAnswerError(Exception):
    """Answer that broke off; a retry may help."""


@dataclass(frozen=True)
class Token:
    """Token with its log-probability and those of the likeliest tokens in its place."""

    text: str
    log_probability: float
    likeliest: Mapping[str, float]


@dataclass(frozen=True)
class Choice:
    """Text and the reason why it ended; `tokens` is empty if the server gives no log-probabilities."""

    text: str
    finish: str
    tokens: tuple[Token, ...] = ()

    @property
    def log_probability(self) -> float | None:
        """Log-probability of the whole text, or None if unknown."""
        return sum(token.log_probability for token in self.tokens) if self.tokens else None


@dataclass(frozen=True)
class Completion:
    """Texts of one answer and its cost in tokens."""

    choices: tuple[Choice, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class _Draft:
    """Text under construction."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    finish: str = ""
    tokens: list[Token] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)
        if self.length > MAX_CHARACTERS:
            raise UnusableAnswerError(f"did not come to an end within {MAX_CHARACTERS} characters")


class AnswerReader:
    """Incremental reader of an answer; `is_done` is set when the server marks the end."""

    def __init__(self, content_type: str) -> None:
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in ("application/json", "text/event-stream"):
            raise UnusableAnswerError(
                "gave an answer that cannot be used, is OPENAI_BASE_URL right? "
                f"It sends {kind or 'something without a content type'}, not JSON"
            )
        self.is_done = False
        self._streams = kind == "text/event-stream"
        self._pending = bytearray()  # the whole object, or a line that is not complete yet
        self._bytes = 0
        self._drafts: dict[int, _Draft] = {}
        self._tokens = (0, 0)

    def feed(self, data: bytes) -> None:
        """Add bytes; raise UnusableAnswerError as soon as the answer cannot be used."""
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise UnusableAnswerError(f"did not come to an end within {MAX_BYTES} bytes")
        self._pending += data
        if self._streams and b"\n" in data:
            *lines, rest = self._pending.split(b"\n")
            self._pending = rest
            for line in lines:
                self._event(bytes(line))

    def finish(self) -> Completion:
        """Return the complete answer; raise BrokenAnswerError if it ended too early."""
        if not self._streams:
            self._take(_json(bytes(self._pending)), "message")
        elif not self.is_done and not any(draft.finish for draft in self._drafts.values()):
            raise BrokenAnswerError("broke off in the middle of its answer")
        if not self._drafts:
            raise UnusableAnswerError("answered with no choices")
        drafts = [self._drafts[index] for index in sorted(self._drafts)]
        choices = (Choice("".join(draft.parts), draft.finish, tuple(draft.tokens)) for draft in drafts)
        return Completion(tuple(choices), *self._tokens)

    def _event(self, line: bytes) -> None:
        name, _, value = line.strip().partition(b":")
        if name != b"data" or self.is_done:
            return  # a keep-alive comment or an event name
        if value.strip() == b"[DONE]":
            self.is_done = True
        else:
            self._take(_json(value), "delta")

    def _take(self, answer: object, where: str) -> None:
        """Add the texts of one JSON object; `where` is its field, "message" or "delta"."""
        whole = _typed(answer, dict, "the answer")
        if whole.get("error"):
            told = whole["error"].get("message") if isinstance(whole["error"], dict) else whole["error"]
            raise UnusableAnswerError(f"gave up in the middle of its answer: {_brief(told)}")
        for choice in _objects(whole, "choices"):
            index = _typed(choice.get("index") or 0, int, "an index")
            draft = self._drafts.setdefault(index, _Draft())
            message = _typed(choice.get(where, {} if where == "delta" else None), dict, f"a {where}")
            draft.add(_typed(message.get("content") or "", str, "the content"))
            draft.finish = _typed(choice.get("finish_reason") or draft.finish, str, "the finish reason")
            draft.tokens += _tokens(choice)
        usage = _typed(whole.get("usage") or {}, dict, "the usage")
        if usage:
            self._tokens = (_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _tokens(choice: Mapping[str, Any]) -> Iterator[Token]:
    given = _typed(choice.get("logprobs") or {}, dict, "logprobs")
    for token in _objects(given, "content"):
        likeliest = {
            _typed(other.get("token"), str, "a token"): _log_probability(other)
            for other in _objects(token, "top_logprobs")
        }
        yield Token(_typed(token.get("token"), str, "a token"), _log_probability(token), likeliest)


def _objects(whole: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    listed = _typed(whole.get(name) or [], list, name)
    return [_typed(item, dict, f"an item of {name}") for item in listed]


def _log_probability(token: Mapping[str, Any]) -> float:
    value = _typed(token.get("logprob"), (int, float), "a log-probability")
    return min(0.0, float(value)) if value > LEAST else LEAST  # also for NaN


def _count(usage: Mapping[str, Any], name: str) -> int:
    count: int = _typed(usage.get(name) or 0, int, name)
    return max(0, count)


def _typed(value: Any, kind: type[T] | tuple[type, ...], what: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UnusableAnswerError(
            f"gave an answer that cannot be used, is OPENAI_BASE_URL right? {what} is {_brief(value)}"
        )
    return value


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        begins = _brief(data[:MOST_TOLD].decode("utf-8", "replace"))
        raise UnusableAnswerError(f"gave an answer that cannot be used: it is not JSON; it begins {begins}") from error


def _brief(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else repr(value)[:MOST_TOLD]
