"""The seam between the planner and any language model: words and a scene in; a program, readings or a choice out.

A language model that keeps count of what its answers cost.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene


@dataclass(frozen=True)
class Attempt:
    """An earlier answer that the checker refused, and why: the material of a repair round.

    `shown` is the answer as the model gave it, where `program` is only what it comes to; `reasoning` led to it.
    """

    program: str
    problems: tuple[str, ...]
    shown: str = ""
    reasoning: str = field(default="", compare=False)


@dataclass(frozen=True)
class Exchange:
    """An earlier command, the program that came of it ("" for none) and how it ended: what "the same" refers to."""

    command: str
    program: str
    outcome: str


@dataclass(frozen=True)
class Failure:
    """A program that stopped in motion: the steps that were done, the one that failed for good, and why."""

    program: str
    done: tuple[str, ...]
    failed: str
    reason: str


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

    `rules` are the constraints that the program must keep, in plain words, and `goals` what holds in its last scene, as
    formulas. `samples` independent programs may be asked for at once, at `temperature`, from `seed`; the first is the
    model's best. With a `function` only its definition is asked for; an empty program says that the model has none.
    `skills` are those that the program may call, `exchanges` the commands before this one, the newest last. After a
    `failure` in motion the program is to finish what is left, from `scene` on. Directions in it are those of a person
    at `viewpoint`. `said` is the whole command where `command` is the part of it that is to be done.
    """

    command: str
    scene: Scene
    attempts: tuple[Attempt, ...] = ()
    rules: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    function: MissingFunction | None = None
    skills: tuple[Signature, ...] = ()
    goals: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    failure: Failure | None = None
    viewpoint: Viewpoint = BEHIND
    said: str = ""


@dataclass(frozen=True)
class Usage:
    """What an answer cost, `seconds` [s] of waiting included; costs add up."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
            self.seconds + other.seconds,
        )

    def __str__(self) -> str:
        requests = "1 request" if self.requests == 1 else f"{self.requests} requests"
        return f"{requests}, {self.prompt_tokens} + {self.completion_tokens} tokens, {self.seconds:.1f} s"


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
    reasoning: str = field(default="", compare=False)


@dataclass(frozen=True)
class ReadingRequest:
    """A command to be split into task and constraints, and how many independent readings of it are wanted.

    Constraints speak of `scene`, in the propositions of `world.propositions`; or, where `propositions` are given, of
    those bare names only. The first reading is the model's best, unless all are to be `drawn`; the others are drawn at
    `temperature` from `seed`. `exchanges` are the commands before this one, the newest last. `skills` are those that
    constraints may speak of, () where they are not known; the person stands at `viewpoint`.
    """

    command: str
    scene: Scene
    propositions: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    attempts: tuple[Attempt, ...] = ()  # earlier readings that could not be used, and why
    drawn: bool = False
    exchanges: tuple[Exchange, ...] = ()
    skills: tuple[Signature, ...] = ()
    viewpoint: Viewpoint = BEHIND


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

    `goals` are propositions that hold in the last scene once the task is done. `sure`: the model sees no other reading.
    `log_probability` is the model's, or None where it gives none. `whole` says that a program will come of the task to
    its last word, conditions such as "until they touch" included: nothing of it can get lost.
    """

    task: str = ""
    constraints: tuple[ReadConstraint, ...] = ()
    question: str = ""
    log_probability: float | None = None
    whole: bool = False
    goals: tuple[str, ...] = ()
    sure: bool = False
    reasoning: str = field(default="", compare=False)

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
    `is_large`: it reads any human language, learns from what it is shown, and its answers are dear. `guess` is the same
    model where it acts on what it is not sure of, which a person has to confirm; None where it never asks for that.
    """

    name: str
    chooses: bool
    is_large: bool

    @property
    def guess(self) -> LanguageModel | None: ...

    def write_program(self, request: ProgramRequest) -> ProgramReply: ...

    def read_command(self, request: ReadingRequest) -> ReadingReply: ...

    def choose(self, request: ChoiceRequest) -> ChoiceReply: ...


Waiting = Callable[[], AbstractContextManager[object]]  # entered while the model thinks


class CountedModel:
    """Asks `model`; `usage` is what all answers since then have cost together, readings, programs and choices."""

    def __init__(self, model: LanguageModel, waiting: Waiting = nullcontext) -> None:
        self.name, self.chooses, self.is_large = model.name, model.chooses, model.is_large
        self.usage = Usage()
        self._model, self._waiting = model, waiting

    @property
    def guess(self) -> CountedModel | None:
        """See `LanguageModel`; what it costs is not counted: no model that guesses costs anything."""
        guess = self._model.guess
        return None if guess is None else CountedModel(guess, self._waiting)

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.write_program(request)
        self.usage += reply.usage
        return reply

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.read_command(request)
        self.usage += reply.usage
        return reply

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """See `LanguageModel`."""
        with self._waiting():
            reply = self._model.choose(request)
        self.usage += reply.usage
        return reply
