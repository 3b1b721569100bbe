"""Factory of language models by name, and the scripted model.

The scripted model answers from a table, for tests, demonstrations and hand-written programs. `read_script` reads its
YAML file (format: docs/reference/model_scripts.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    LanguageModel,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingReply,
    ReadingRequest,
)

MODEL_NAMES = ("embedded", "openai", "scripted")


def check_model(name: str, script: Path | None = None) -> None:
    """Raise `InputError` if the name is unknown, the scripted model has no file, or another model has one."""
    if name not in MODEL_NAMES:
        raise InputError(f"there is no language model {name!r}; choose one of: {', '.join(MODEL_NAMES)}")
    check_script(name, script)
    if name == "scripted" and script is None:
        raise InputError("the scripted model needs a file of replies: give its path as the model script")
    if script is not None and not script.exists():
        raise InputError(f"cannot read the model script {script}: there is no such file")


def check_script(name: str, script: Path | None) -> None:
    """Raise `InputError` if a script is given for a model other than the scripted one."""
    if script is not None and name != "scripted":
        raise InputError(
            f"the model script {script} holds replies of the model scripted, but the model is {name}: "
            "choose the model scripted, or leave the script out"
        )


def open_model(
    name: str = "embedded", script: Path | None = None, hear: Callable[[dict[str, object]], None] | None = None
) -> LanguageModel:
    """Open a language model.

    Args:
        name: One of `MODEL_NAMES`. "openai" reads `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `LLM_PLANNER_OPENAI_MODEL`
            from the environment.
        script: Reply file of the scripted model.
        hear: Called with each request to a server and its answer, as plain values without secrets.

    Raises:
        InputError: `check_model` fails, the environment lacks a setting, or the script is wrong.
    """
    check_model(name, script)
    if name == "embedded":
        from llm_planner.language.embedded.model import load_model

        return load_model()
    if name == "openai":
        from llm_planner.language.server.connection import settings_from_environment, unheard
        from llm_planner.language.server.model import ServerModel

        return ServerModel(settings_from_environment(), hear=hear or unheard)

    assert script is not None
    return read_script(script)


T = TypeVar("T")


@dataclass(frozen=True)
class Script:
    """Answers to one command.

    Attributes:
        programs: One reply per repair round; the last repeats.
        readings: Samples per repair round, the best first; the last round and the last sample repeat. Without readings
            the whole command is the task.
        choices: Steps to choose, in order.
        functions: Definitions by function name, one per repair round.
    """

    programs: tuple[ProgramReply, ...] = ()
    readings: tuple[tuple[Reading, ...], ...] = ()
    choices: tuple[str, ...] = ()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ScriptedLanguageModel:
    """Language model that answers each command from a list of replies, one per repair round; the last repeats.

    With `is_large` callers treat it as a large model. For tests, `requests` records the requests for programs and
    functions, `readings` and `choices` the other requests.
    """

    name = "scripted"
    chooses = True
    guess = None

    def __init__(
        self, replies: Mapping[str, ProgramReply | Sequence[ProgramReply] | Script], is_large: bool = False
    ) -> None:
        self.is_large = is_large
        self._scripts: dict[str, Script] = {}
        for command, reply in replies.items():
            rounds = (reply,) if isinstance(reply, ProgramReply) else reply
            self._scripts[command] = rounds if isinstance(rounds, Script) else Script(tuple(rounds))
        self.requests: list[ProgramRequest] = []
        self.readings: list[ReadingRequest] = []
        self.choices: list[ChoiceRequest] = []

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """Return the reply listed for this command and round; an empty program for an unlisted function.

        Raises LanguageModelError if the script has no answer to the command.
        """
        self.requests.append(request)
        script = self._find(request.command)
        round = len(request.attempts)
        if request.function is not None:
            listed = script.functions.get(request.function.name, ("",))
            return ProgramReply(_at(listed, round))
        if not script.programs:
            raise LanguageModelError(f"the scripted model has no program for {request.command!r}")
        reply = _at(script.programs, round)
        return replace(reply, others=reply.others[: request.samples - 1])

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """Return as many of the listed readings as requested; raise as `write_program` does."""
        self.readings.append(request)
        script = self._find(request.command)
        listed = _at(script.readings, len(request.attempts)) if script.readings else (Reading(request.command),)
        first = int(request.drawn)
        return ReadingReply(tuple(_at(listed, n) for n in range(first, first + request.samples)))

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """Prefer the next listed step that was not taken yet; each later step is half as likely as the one before.

        Options that are not listed rank last. Raises as `write_program` does.
        """
        self.choices.append(request)
        taken = Counter(request.steps)
        ahead = []
        for step in self._find(request.command).choices:
            if taken[step]:
                taken[step] -= 1
            else:
                ahead.append(step)
        ranks = [ahead.index(option) if option in ahead else len(ahead) for option in request.options]
        whole = sum(2.0**-rank for rank in ranks)
        return ChoiceReply(tuple(math.log(2.0**-rank / whole) for rank in ranks))

    def _find(self, command: str) -> Script:
        if command not in self._scripts:
            known = ", ".join(repr(command) for command in self._scripts) or "none"
            raise LanguageModelError(f"the scripted model has no answer to {command!r}; it knows: {known}")
        return self._scripts[command]


def _at(listed: Sequence[T], position: int) -> T:
    return listed[min(position, len(listed) - 1)]


def read_script(path: Path) -> ScriptedLanguageModel:
    """Read a YAML file that maps commands to answers; raise `InputError` if it does not have this format."""
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"cannot read the model script {path}: {error}") from error
    if not isinstance(table, dict):
        raise InputError(
            f"the model script {path} must map commands to programs, but it holds a {type(table).__name__}"
        )
    return ScriptedLanguageModel(
        {str(command): script_from_yaml(path, str(command), table[command]) for command in table}
    )


_PARTS = ("programs", "readings", "choices", "functions")
_READING = ("task", "constraints", "question", "log_probability")
_CONSTRAINT = ("formula", "words", "goal")


def script_from_yaml(path: Path, command: str, answers: object) -> Script:
    """Convert the YAML answers to `command`; raise `InputError` naming the file, the command and the fault."""
    try:
        if not isinstance(answers, dict):
            return Script(tuple(map(_program, _listed(answers))))
        _keys(answers, _PARTS, "the answers")
        return Script(
            tuple(map(_program, _listed(answers.get("programs", [])))),
            _readings(answers.get("readings", [])),
            tuple(map(str, _listed(answers.get("choices", [])))),
            {str(name): tuple(map(str, _listed(text))) for name, text in _table(answers.get("functions")).items()},
        )
    except ValueError as error:
        raise InputError(f"the model script {path} is wrong at {command!r}: {error}") from error


def _program(reply: object) -> ProgramReply:
    """Convert a text, a list of samples, or a question."""
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
    """Convert one round of samples, or a list of rounds that are lists."""
    listed = _listed(rounds)
    if listed and not any(isinstance(item, list) for item in listed):
        listed = [listed]
    return tuple(tuple(map(_reading, _listed(samples))) for samples in listed if samples)


def _reading(item: object) -> Reading:
    fields = _table(item)
    _keys(fields, _READING, "a reading")
    constraints = []
    for given in map(_table, _listed(fields.get("constraints", []))):
        _keys(given, _CONSTRAINT, "a constraint")
        if "formula" not in given:
            raise ValueError("a constraint has no formula")
        words, goal = str(given.get("words", "")), bool(given.get("goal", False))
        constraints.append(ReadConstraint(str(given["formula"]), words, goal))
    probability = fields.get("log_probability")
    known = None if probability is None else float(str(probability))
    return Reading(str(fields.get("task", "")), tuple(constraints), str(fields.get("question", "")), known)


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
