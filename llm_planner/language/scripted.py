"""A language model that answers from a table: for tests, demonstrations and hand-written programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    Reading,
    ReadingReply,
    ReadingRequest,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Script:
    """All answers to one command.

    `programs` and `readings` have one entry a repair round, the last of which repeats; a round of readings is all
    samples, the best first, and again the last repeats. No readings are the command itself as the task. `choices` are
    the steps that it would take in order. `functions` are definitions by name, one a repair round.
    """

    programs: tuple[ProgramReply, ...] = ()
    readings: tuple[tuple[Reading, ...], ...] = ()
    choices: tuple[str, ...] = ()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ScriptedLanguageModel:
    """Answers each command with its listed replies in turn, one a repair round; the last one repeats.

    `is_large`: it is asked as a large model would be. `requests` keeps every request for a program or a function,
    `readings` and `choices` the others, for tests to inspect.
    """

    name = "scripted"
    chooses = True
    guess = None

    def __init__(
        self, replies: Mapping[str, ProgramReply | Sequence[ProgramReply] | Script], is_large: bool = False
    ) -> None:
        self.is_large = is_large
        self._scripts = {command: _script(reply) for command, reply in replies.items()}
        self.requests: list[ProgramRequest] = []
        self.readings: list[ReadingRequest] = []
        self.choices: list[ChoiceRequest] = []

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """The reply listed for this command and round; raises `LanguageModelError` naming the commands it knows.

        A function that the script does not define is answered with an empty program.
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
        """The readings listed for this command and round, as many as are asked for; raises as `write_program`."""
        self.readings.append(request)
        script = self._find(request.command)
        listed = _at(script.readings, len(request.attempts)) if script.readings else (Reading(request.command),)
        first = int(request.drawn)
        return ReadingReply(tuple(_at(listed, n) for n in range(first, first + request.samples)))

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """The next listed step that was not taken yet is likeliest, later ones each half as likely as the one before.

        Options that are not listed come after all of these. Raises as `write_program`.
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


def _script(reply: ProgramReply | Sequence[ProgramReply] | Script) -> Script:
    if isinstance(reply, Script):
        return reply
    return Script((reply,) if isinstance(reply, ProgramReply) else tuple(reply))


def _at(listed: Sequence[T], position: int) -> T:
    return listed[min(position, len(listed) - 1)]


def read_script(path: Path) -> ScriptedLanguageModel:
    """Read a YAML file that maps each command to a program, to a list of programs, one a repair round, or to a table
    of all its answers (see docs/model_scripts.md).

    Raises `InputError` when the file cannot be read or is not such a mapping.
    """
    import yaml

    from llm_planner.language.script_file import script_from_yaml

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
