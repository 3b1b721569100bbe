"""The seam between the planner and any language model: a command and a scene in, a policy program or a question out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class Attempt:
    """An earlier answer that the checker refused, and why: the material of a repair round."""

    program: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class ProgramRequest:
    """What a model is asked: the person's words, what is on the table, and what was wrong with earlier answers."""

    command: str
    scene: Scene
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True)
class Usage:
    """What an answer cost."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0


@dataclass(frozen=True)
class ProgramReply:
    """Either a `program` or a `question` for the person, never both; the other is "".

    `confidence` is the model's probability of being right in [0, 1], or None where the model gives none.
    """

    program: str = ""
    question: str = ""
    confidence: float | None = None
    usage: Usage = Usage()


class LanguageModel(Protocol):
    """Anything that writes policy programs. Raises `LanguageModelError` when it cannot answer."""

    name: str

    def write_program(self, request: ProgramRequest) -> ProgramReply: ...
