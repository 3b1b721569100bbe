"""A language model that answers from a table: for tests, demonstrations and hand-written programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import ProgramReply, ProgramRequest


class ScriptedLanguageModel:
    """Answers each command with its listed replies in turn, one a repair round; the last one repeats.

    `requests` keeps every request it was asked, for tests to inspect.
    """

    name = "scripted"

    def __init__(self, replies: Mapping[str, ProgramReply | Sequence[ProgramReply]]) -> None:
        self._replies = {
            command: [reply] if isinstance(reply, ProgramReply) else list(reply) for command, reply in replies.items()
        }
        self.requests: list[ProgramRequest] = []

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """The reply listed for this command and round; raises `LanguageModelError` naming the commands it knows."""
        self.requests.append(request)
        replies = self._replies.get(request.command)
        if not replies:
            known = ", ".join(repr(command) for command in self._replies) or "none"
            raise LanguageModelError(f"the scripted model has no answer to {request.command!r}; it knows: {known}")
        return replies[min(len(request.attempts), len(replies) - 1)]


def read_script(path: Path) -> ScriptedLanguageModel:
    """Read a YAML file that maps each command to a program, or to a list of programs, one a repair round.

    Raises `InputError` when the file cannot be read or is not such a mapping.
    """
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"cannot read the model script {path}: {error}") from error
    if not isinstance(table, dict):
        raise InputError(
            f"the model script {path} must map commands to programs, but it holds a {type(table).__name__}"
        )
    return ScriptedLanguageModel({str(command): _replies(programs) for command, programs in table.items()})


def _replies(programs: object) -> list[ProgramReply]:
    listed = programs if isinstance(programs, list) else [programs]
    return [ProgramReply(program=str(program)) for program in listed]
