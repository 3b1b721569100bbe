"""What a model's text means: a program or a question, a reading of a command, or one of several labels."""

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
_CALL = re.compile(r"\w\(")  # no program does anything without one
_HALF = re.compile(r'\{\s*"')  # an object that is no program, whatever is wrong with it
_THOUGHT = "</think>"
MAX_REASONING = 600  # characters that a repair shows
CHOSEN = 0.9  # probability of the option that a server names where it tells none
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_answer(text: str) -> tuple[str, str]:
    """Program and question from an answer: our JSON object, or a program in a code fence, or bare, or a bare question.

    Both are "" where the answer holds neither. What a model thinks aloud before its answer, up to `</think>`, is
    passed over.
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
    """What it says of how it came to the answer, cut; "" where it says nothing, or not in our JSON object."""
    try:
        reply = json_in(text)
    except ValueError:
        return ""
    return shortened(str(reply.get("reasoning") or ""), MAX_REASONING) if isinstance(reply, dict) else ""


def read_reading(choice: Choice) -> Reading:
    """The reading in an answer: our JSON object, also in a code fence, or a bare question.

    Raises ValueError that says what is wrong: nothing of a reading is ever left out.
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
    if question:  # in doubt it asks
        return Reading(question=question, log_probability=choice.log_probability)
    listed = fields.get("constraints") or []
    if not isinstance(listed, list):
        raise ValueError('"constraints" is no list')
    constraints = tuple(_constraint(_object(item, "a constraint")) for item in listed)
    goals = fields.get("goals") or []
    if not isinstance(goals, list) or not all(isinstance(goal, str) for goal in goals):
        raise ValueError('"goals" is no list of texts')
    stated = tuple(goal.strip() for goal in goals if goal.strip())
    sure = fields.get("sure") is True
    reasoning = reasoning_in(choice.text)
    return Reading(
        _text(fields, "task"), constraints, "", choice.log_probability, goals=stated, sure=sure, reasoning=reasoning
    )


class NestedError(ValueError):
    """JSON that is nested without end."""


def json_in(text: str) -> Any:
    """The JSON value in an answer, in a code fence or with prose around it; commas before a bracket are passed over.

    Raises ValueError where there is none.
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
    """One label for each of `count` options: a letter, which is one token, as long as there are enough."""
    return tuple(LETTERS[:count]) if count <= len(LETTERS) else tuple(str(n) for n in range(1, count + 1))


def read_choice(choice: Choice, labels: Sequence[str]) -> tuple[float, ...]:
    """The log-probability of each label; () where the answer names none.

    Taken from what else the server might have said in place of the label. Where it does not tell, the label that it
    named has probability CHOSEN, and the others share the rest.
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
    """From the first token of the answer, where labels are tokens and the likeliest ones are listed."""
    before, thought, _ = choice.text.rpartition(_THOUGHT)
    start, position = len(before) + len(thought), 0
    for token in choice.tokens:
        if position >= start and token.text.strip():
            weights = _weights({**token.likeliest, token.text: token.log_probability})
            return _normalized([weights.get(label, 0.0) for label in labels]) if token.likeliest else ()
        position += len(token.text)
    return ()


def _weights(likeliest: Mapping[str, float]) -> dict[str, float]:
    """Probabilities by token, where "A", " A" and "A." are the same."""
    weights: dict[str, float] = {}
    for text, log_probability in likeliest.items():
        label = text.strip(" \n.):\"'(*")
        weights[label] = weights.get(label, 0.0) + math.exp(log_probability)
    return weights


def _normalized(weights: Sequence[float]) -> tuple[float, ...]:
    """Log-probabilities; what is not among the likeliest has at most half the probability of the least of them."""
    seen = [weight for weight in weights if weight > 0.0]
    if not seen or (len(weights) > len(LETTERS)):  # numbers may be several tokens
        return ()
    filled = [weight or min(seen) / 2 for weight in weights]
    return tuple(math.log(weight / sum(filled)) for weight in filled)


def _body(text: str) -> tuple[str, bool]:
    """The answer proper, and whether it stood in a code fence."""
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
        raise ValueError(f"{what} is no JSON object")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name) or ""
    if not isinstance(value, str):
        raise ValueError(f'"{name}" is no text')
    return value.strip()
