"""What a server answers, read off its bytes: one JSON object, or server-sent events as they come.

Nothing is taken on trust: the text, the bytes and every field's type are bounded and checked, whatever arrives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

MAX_BYTES = 16_000_000  # of one answer with everything in it; log-probabilities take hundreds a token
MAX_CHARACTERS = 40_000  # of one text: four times the longest program
MOST_TOLD = 5000  # of what a server sent, in an error: cut further only once secrets are out of it
LEAST = -9999.0  # what servers write for the log-probability of the impossible

T = TypeVar("T")


class UnusableAnswerError(Exception):
    """The answer is not what was asked for; asking again would not help. The message ends "the server ..."."""


class BrokenAnswerError(Exception):
    """The answer stopped in the middle; asking again may help."""


@dataclass(frozen=True)
class Token:
    """One token of a text, its log-probability, and those of the likeliest tokens at its place."""

    text: str
    log_probability: float
    likeliest: Mapping[str, float]


@dataclass(frozen=True)
class Choice:
    """One text, and why it ended; `tokens` are empty where the server gives no log-probabilities."""

    text: str
    finish: str
    tokens: tuple[Token, ...] = ()

    @property
    def log_probability(self) -> float | None:
        """Of exactly this text, or None where the server does not say."""
        return sum(token.log_probability for token in self.tokens) if self.tokens else None


@dataclass(frozen=True)
class Completion:
    """All texts of one answer, and the tokens that it cost."""

    choices: tuple[Choice, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class _Draft:
    """A text as far as it has come."""

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
    """Takes the bytes of an answer as they come; `is_done` once the server has said that it is complete."""

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
        """Raises UnusableAnswerError as soon as the answer cannot be used any more."""
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
        """The complete answer; raises BrokenAnswerError when it ended too early."""
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
            return  # a comment that keeps the connection open, or the name of an event
        if value.strip() == b"[DONE]":
            self.is_done = True
        else:
            self._take(_json(value), "delta")

    def _take(self, answer: object, where: str) -> None:
        """Add what one object brings: a `message`, or the `delta` to one."""
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
    return min(0.0, float(value)) if value > LEAST else LEAST  # what is no number too


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
