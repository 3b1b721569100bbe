"""Parsers of a server's answers: a program or question, a reading of a command, or the choice of a label."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from llm_planner.language.model import ReadConstraint, Reading
from llm_planner.language.server.completion import Choice
from llm_planner.text import shortened

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
