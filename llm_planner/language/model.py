"""The seam between the planner and any language model: words and a scene in; a program, readings or a choice out."""

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
class MissingFunction:
    """A function that a program calls and nobody has defined, asked for on its own.

    `parameters` are how the call names them, `line` is the line of `program` that calls it.
    """

    name: str
    parameters: tuple[str, ...]
    line: str
    program: str

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class ProgramRequest:
    """What a model is asked: the person's words, what is on the table, and what was wrong with earlier answers.

    `rules` are the constraints that the program must keep, in plain words. `samples` independent programs may be asked
    for at once, at `temperature`, from `seed`; the first is the model's best. With a `function` only its definition is
    asked for; an empty program says that the model has none.
    """

    command: str
    scene: Scene
    attempts: tuple[Attempt, ...] = ()
    rules: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    function: MissingFunction | None = None


@dataclass(frozen=True)
class Usage:
    """What an answer cost; costs add up."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
        )


@dataclass(frozen=True)
class ProgramReply:
    """Either a `program` or a `question` for the person, never both; the other is "".

    `confidence` is the model's probability of being right in [0, 1], or None where the model gives none. `others` are
    further programs, where several samples were asked for.
    """

    program: str = ""
    question: str = ""
    confidence: float | None = None
    usage: Usage = Usage()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadingRequest:
    """A command to be split into task and constraints, and how many independent readings of it are wanted.

    Constraints speak of `scene`, in the propositions of `world.propositions`; or, where `propositions` are given, of
    those bare names only. The first reading is the model's best; the others are drawn at `temperature` from `seed`.
    """

    command: str
    scene: Scene
    propositions: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    attempts: tuple[Attempt, ...] = ()  # earlier readings that could not be used, and why


@dataclass(frozen=True)
class ReadConstraint:
    """One constraint as a model wrote it: formula text, not yet parsed, and the words of the command it stands for.

    A `goal` is something that the person wants done, as a formula; a rule only forbids or demands on the way.
    """

    formula: str
    words: str
    goal: bool = False


@dataclass(frozen=True)
class Reading:
    """One reading of a command: the words of its `task` ("" for none) and its constraints; or a `question`, never both.

    `log_probability` is the model's, or None where it gives none. `whole` says that a program will come of the task to
    its last word, conditions such as "until they touch" included: nothing of it can get lost.
    """

    task: str = ""
    constraints: tuple[ReadConstraint, ...] = ()
    question: str = ""
    log_probability: float | None = None
    whole: bool = False

    def __str__(self) -> str:
        """The task and the formulas, a line each: what an `Attempt` at reading shows."""
        return "\n".join(filter(None, (self.task, *(constraint.formula for constraint in self.constraints))))


@dataclass(frozen=True)
class ReadingReply:
    """The readings, the best first, and what they cost together."""

    readings: tuple[Reading, ...]
    usage: Usage = Usage()


@dataclass(frozen=True)
class ChoiceRequest:
    """Which of `options` (skill calls, as text) comes next, after `steps`, for the command in the scene?"""

    command: str
    scene: Scene
    steps: tuple[str, ...]
    options: tuple[str, ...]
    constraints: tuple[str, ...] = ()  # in plain words


@dataclass(frozen=True)
class ChoiceReply:
    """Log-probabilities of the options, in their order."""

    log_probabilities: tuple[float, ...]
    usage: Usage = Usage()


class LanguageModel(Protocol):
    """Anything that reads commands and writes programs. Raises `LanguageModelError` when it cannot answer.

    `chooses`: it may be asked for every step of a plan; otherwise `choose` knows no more than its sampled programs do.
    """

    name: str
    chooses: bool

    def write_program(self, request: ProgramRequest) -> ProgramReply: ...

    def read_command(self, request: ReadingRequest) -> ReadingReply: ...

    def choose(self, request: ChoiceRequest) -> ChoiceReply: ...
