"""Parsers of a server's answers: chat completions from bytes, and what their texts hold.

A completion is one JSON object, or server-sent events. The server is not trusted: the number of bytes, the length of
texts and the type of every field are checked. A text holds a program or question, a reading of a command, or the choice
of a label.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from llm_planner.language.model import ReadConstraint, Reading
from llm_planner.text import shortened

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


_FENCE = re.compile(r"```(?:\w+)?\s*\n?(.*?)```", re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_CALL = re.compile(r"\w\(")  # every useful program has one
_HALF = re.compile(r'\{\s*"')  # start of a broken JSON object, which is not a program
_THOUGHT = "</think>"
MAX_REASONING = 600  # characters shown in a repair round
CHOSEN = 0.9  # probability of the named option if the server gives none
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_answer(text: str) -> tuple[str, str]:
    """Parse an answer to a program request.

    Accepts the JSON object of `REPLY_SCHEMA`, a program with or without a code fence, or a bare question. Text up to
    `</think>` is ignored. Returns the program and the question; both are "" if the answer holds neither.
    """
    body, fenced = _body(text)
    try:
        reply = json_in(text)
    except ValueError as error:
        if isinstance(error, NestedError) or _HALF.match(body):
            return "", ""
        if not fenced and body.endswith("?") and not _CALL.search(body):
            return "", body
        return (body + "\n" if body else ""), ""
    if not isinstance(reply, dict):
        return "", ""
    program, question = (str(reply.get(key) or "").strip() for key in ("program", "question"))
    return (program + "\n" if program else ""), question


def reasoning_in(text: str) -> str:
    """Return the "reasoning" of the JSON object in an answer, shortened; "" for none."""
    try:
        reply = json_in(text)
    except ValueError:
        return ""
    return shortened(str(reply.get("reasoning") or ""), MAX_REASONING) if isinstance(reply, dict) else ""


def read_reading(choice: Choice) -> Reading:
    """Parse a reading: the JSON object of `READING_SCHEMA`, also in a code fence, or a bare question.

    Raises ValueError if any part of the reading is invalid.
    """
    body, fenced = _body(choice.text)
    try:
        reply = json_in(choice.text)
    except NestedError:
        raise
    except ValueError as error:
        if not fenced and body.endswith("?") and "{" not in body:
            return Reading(question=body, log_probability=choice.log_probability)
        raise ValueError(f"it is not JSON ({error})") from error
    fields = _object(reply, "the answer")
    question = _text(fields, "question")
    if question:
        return Reading(question=question, log_probability=choice.log_probability)
    listed = fields.get("constraints") or []
    if not isinstance(listed, list):
        raise ValueError('"constraints" is not a list')
    constraints = tuple(_constraint(_object(item, "a constraint")) for item in listed)
    goals = fields.get("goals") or []
    if not isinstance(goals, list) or not all(isinstance(goal, str) for goal in goals):
        raise ValueError('"goals" is not a list of texts')
    stated = tuple(goal.strip() for goal in goals if goal.strip())
    sure = fields.get("sure") is True
    reasoning = reasoning_in(choice.text)
    return Reading(
        _text(fields, "task"), constraints, "", choice.log_probability, goals=stated, sure=sure, reasoning=reasoning
    )


class NestedError(ValueError):
    """JSON that is nested too deeply to parse."""


def json_in(text: str) -> Any:
    """Find the JSON value in an answer, also in a code fence or within prose; trailing commas are ignored.

    Raises ValueError if there is none.
    """
    body, _ = _body(text)
    found: ValueError | None = None
    for candidate in (body, body[body.find("{") : body.rfind("}") + 1]):
        for part in (candidate, _STRING_OR_COMMA.sub(lambda match: match[1] or "", candidate)):
            try:
                return json.loads(part, strict=False)
            except RecursionError as error:
                raise NestedError("its JSON is nested without end") from error
            except ValueError as error:
                found = found or error
    assert found is not None
    raise found


def labels_for(count: int) -> tuple[str, ...]:
    """Return one label per option: letters, which are single tokens, or numbers if there are too few letters."""
    return tuple(LETTERS[:count]) if count <= len(LETTERS) else tuple(str(n) for n in range(1, count + 1))


def read_choice(choice: Choice, labels: Sequence[str]) -> tuple[float, ...]:
    """Return the log-probability of each label; () if the answer names none.

    The values come from the alternatives to the first token. Without these the named label has probability `CHOSEN`
    and the others share the rest.
    """
    spread = _spread(choice, labels)
    if spread:
        return spread
    named = re.findall(r"\w+", choice.text.rpartition(_THOUGHT)[2])
    chosen = next((word for word in named if word in labels), "")
    if not chosen:
        return ()
    others = (1.0 - CHOSEN) / max(1, len(labels) - 1)
    return tuple(math.log(CHOSEN if label == chosen else others) for label in labels)


def _spread(choice: Choice, labels: Sequence[str]) -> tuple[float, ...]:
    """Read the label probabilities from the alternatives to the first token; () if they are not listed."""
    before, thought, _ = choice.text.rpartition(_THOUGHT)
    start, position = len(before) + len(thought), 0
    for token in choice.tokens:
        if position >= start and token.text.strip():
            weights = _weights({**token.likeliest, token.text: token.log_probability})
            return _normalized([weights.get(label, 0.0) for label in labels]) if token.likeliest else ()
        position += len(token.text)
    return ()


def _weights(likeliest: Mapping[str, float]) -> dict[str, float]:
    """Sum probabilities by label, so that "A", " A" and "A." count as one."""
    weights: dict[str, float] = {}
    for text, log_probability in likeliest.items():
        label = text.strip(" \n.):\"'(*")
        weights[label] = weights.get(label, 0.0) + math.exp(log_probability)
    return weights


def _normalized(weights: Sequence[float]) -> tuple[float, ...]:
    """Convert to log-probabilities; unlisted labels get half the weight of the least likely listed one."""
    seen = [weight for weight in weights if weight > 0.0]
    if not seen or (len(weights) > len(LETTERS)):  # numbers may be several tokens
        return ()
    filled = [weight or min(seen) / 2 for weight in weights]
    return tuple(math.log(weight / sum(filled)) for weight in filled)


def _body(text: str) -> tuple[str, bool]:
    """Return the answer without thoughts and code fence, and whether it had a fence."""
    text = text.rpartition(_THOUGHT)[2]
    fenced = _FENCE.search(text)
    return (fenced.group(1) if fenced else text).strip(), fenced is not None


def _constraint(fields: Mapping[str, Any]) -> ReadConstraint:
    formula = _text(fields, "formula")
    if not formula:
        raise ValueError("a constraint has no formula")
    goal = fields.get("goal", False)
    if not isinstance(goal, bool):
        raise ValueError(f'"goal" must be true or false, not {goal!r:.50}')
    return ReadConstraint(formula, _text(fields, "words"), goal)


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not a JSON object")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name) or ""
    if not isinstance(value, str):
        raise ValueError(f'"{name}" is not a text')
    return value.strip()
