"""The file of a scripted model: what its YAML means, and what is wrong with it (format: docs/model_scripts.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.language.model import ProgramReply, ReadConstraint, Reading
from llm_planner.language.scripted import Script

_PARTS = ("programs", "readings", "choices", "functions")
_READING = ("task", "constraints", "question", "log_probability")
_CONSTRAINT = ("formula", "words", "goal")


def script_from_yaml(path: Path, command: str, answers: object) -> Script:
    """All answers to `command`; raises InputError that names the file, the command and what there may be."""
    try:
        if not isinstance(answers, dict):
            return Script(_programs(answers))
        _keys(answers, _PARTS, "the answers")
        return Script(
            _programs(answers.get("programs", [])),
            _readings(answers.get("readings", [])),
            tuple(map(str, _listed(answers.get("choices", [])))),
            {str(name): tuple(map(str, _listed(text))) for name, text in _table(answers.get("functions")).items()},
        )
    except ValueError as error:
        raise InputError(f"the model script {path} is wrong at {command!r}: {error}") from error


def _programs(rounds: object) -> tuple[ProgramReply, ...]:
    return tuple(_program(reply) for reply in _listed(rounds))


def _program(reply: object) -> ProgramReply:
    """A text, a list of samples, or a question."""
    if isinstance(reply, dict):
        _keys(reply, ("question",), "a program")
        if not reply:
            raise ValueError("a program needs a question, or is a text or a list of texts")
        return ProgramReply(question=str(reply["question"]))
    if isinstance(reply, list) and reply:
        best, *others = map(str, reply)
        return ProgramReply(best, others=tuple(others))
    return ProgramReply(str(reply))


def _readings(rounds: object) -> tuple[tuple[Reading, ...], ...]:
    """One round of samples, or a list of rounds, each a list."""
    listed = _listed(rounds)
    if listed and not any(isinstance(item, list) for item in listed):
        listed = [listed]
    return tuple(tuple(map(_reading, _listed(samples))) for samples in listed if samples)


def _reading(item: object) -> Reading:
    fields = _table(item)
    _keys(fields, _READING, "a reading")
    constraints = tuple(_constraint(_table(given)) for given in _listed(fields.get("constraints", [])))
    probability = fields.get("log_probability")
    known = None if probability is None else float(str(probability))
    return Reading(str(fields.get("task", "")), constraints, str(fields.get("question", "")), known)


def _constraint(fields: Mapping[str, Any]) -> ReadConstraint:
    _keys(fields, _CONSTRAINT, "a constraint")
    if "formula" not in fields:
        raise ValueError("a constraint has no formula")
    return ReadConstraint(str(fields["formula"]), str(fields.get("words", "")), bool(fields.get("goal", False)))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _table(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.60} stands where a table of fields is expected")
    return value


def _keys(fields: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in fields:
        if name not in known:
            raise ValueError(f"{what} cannot have {name!r}; there are: {', '.join(known)}")
