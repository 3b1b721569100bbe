"""Interface between the planner and any language model.

Defines the requests for programs, readings and choices, their replies, the `LanguageModel` protocol, and
`CountedModel`, which adds up what the replies cost.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene


@dataclass(frozen=True)
class Attempt:
    """Earlier answer that the checker refused, with the problems found; a repair round sends it back to the model.

    `shown` is the answer as the model gave it, where `program` holds only its content. `reasoning` is what the model
    wrote before the answer.
    """

    program: str
    problems: tuple[str, ...]
    shown: str = ""
    reasoning: str = field(default="", compare=False)


@dataclass(frozen=True)
class Exchange:
    """Earlier command, its program ("" for none) and its outcome, so that a command can say "the same"."""

    command: str
    program: str
    outcome: str


@dataclass(frozen=True)
class Failure:
    """Program that failed during execution: the completed steps, the step that failed for good, and the reason."""

    program: str
    done: tuple[str, ...]
    failed: str
    reason: str


@dataclass(frozen=True)
class MissingFunction:
    """Undefined function that a program calls; the model is asked for its definition alone.

    `parameters` are named after the arguments of the call. `line` is the line of `program` with the call.
    """

    name: str
    parameters: tuple[str, ...]
    line: str
    program: str

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)})"


@dataclass(frozen=True)
class ProgramRequest:
    """Request for a policy program.

    Attributes:
        command: Command, or the part of it that the program does.
        scene: Scene in which the program starts.
        attempts: Refused answers of earlier rounds.
        rules: Constraints on the program, in plain words.
        samples: Number of independent programs. The first is the model's best; the others are drawn at `temperature`
            from `seed`.
        function: Function to define. The reply then holds only its definition, or an empty program if the model has
            none.
        skills: Skills that the program may call.
        goals: Formulas that hold in the last scene.
        exchanges: Earlier commands, the newest last.
        failure: Failed run; the program finishes what is left, starting from `scene`.
        viewpoint: Where the person stands; directions in the program are theirs.
        said: Whole utterance, where `command` is only a part of it.
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
    """Cost of an answer, including `seconds` [s] of waiting. Costs can be added."""

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
    """Either a `program` or a `question` for the person; the other is "".

    `confidence` is the model's probability of being right, in [0, 1], or None if the model gives none. `others` are
    the further samples of the request.
    """

    program: str = ""
    question: str = ""
    confidence: float | None = None
    usage: Usage = Usage()
    others: tuple[str, ...] = ()
    reasoning: str = field(default="", compare=False)


@dataclass(frozen=True)
class ReadingRequest:
    """Request to split a command into a task and constraints.

    Attributes:
        command: Command to read.
        scene: Scene of the propositions (`scene.propositions`) in the constraints.
        propositions: Bare names; if given, constraints use only these and not the scene.
        samples: Number of independent readings. The first is the model's best, unless all are `drawn`; the others are
            drawn at `temperature` from `seed`.
        attempts: Refused readings of earlier rounds.
        drawn: Whether all readings are drawn at random.
        exchanges: Earlier commands, the newest last.
        skills: Skills that constraints may name; () if unknown.
        viewpoint: Where the person stands.
    """

    command: str
    scene: Scene
    propositions: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    attempts: tuple[Attempt, ...] = ()
    drawn: bool = False
    exchanges: tuple[Exchange, ...] = ()
    skills: tuple[Signature, ...] = ()
    viewpoint: Viewpoint = BEHIND


@dataclass(frozen=True)
class ReadConstraint:
    """Constraint as a model wrote it: unparsed formula text and the words of the command that it stands for.

    A `goal` is something to achieve; any other constraint is a rule that holds on the way.
    """

    formula: str
    words: str
    goal: bool = False


@dataclass(frozen=True)
class Reading:
    """Reading of a command: the words of its `task` ("" for none) and its constraints, or else a `question`.

    Attributes:
        task: The part of the command that a program does.
        constraints: Rules and goals.
        question: Question for the person.
        log_probability: Log-probability of the reading, or None if the model gives none.
        whole: Whether the model accounts for every word of the task, including conditions such as "until they touch".
        goals: Propositions that hold in the last scene once the task is done.
        sure: Whether the model sees no other reading.
        reasoning: What the model wrote before the answer.
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
        """Return the task and the formulas, one per line, as in the `program` of an `Attempt`."""
        return "\n".join(filter(None, (self.task, *(constraint.formula for constraint in self.constraints))))


@dataclass(frozen=True)
class ReadingReply:
    """Readings, the best first, and their total cost."""

    readings: tuple[Reading, ...]
    usage: Usage = Usage()


@dataclass(frozen=True)
class ChoiceRequest:
    """Request to choose the next step after `steps` among `options` (skill calls as text)."""

    command: str
    scene: Scene
    steps: tuple[str, ...]
    options: tuple[str, ...]
    constraints: tuple[str, ...] = ()  # in plain words


@dataclass(frozen=True)
class ChoiceReply:
    """Log-probabilities of the options, in the order of the request."""

    log_probabilities: tuple[float, ...]
    usage: Usage = Usage()


class LanguageModel(Protocol):
    """Model that reads commands and writes programs. Its methods raise `LanguageModelError` when it cannot answer.

    Attributes:
        name: Name in settings and messages.
        chooses: Whether `choose` adds information to the sampled programs, so that it is worth asking at every step.
        is_large: Whether it reads any human language and learns from repair rounds, at a high cost per answer.
        guess: The same model acting on readings that it is not sure of, which the person must confirm; None if it has
            no such mode.
    """

    name: str
    chooses: bool
    is_large: bool

    @property
    def guess(self) -> LanguageModel | None: ...

    def write_program(self, request: ProgramRequest) -> ProgramReply: ...

    def read_command(self, request: ReadingRequest) -> ReadingReply: ...

    def choose(self, request: ChoiceRequest) -> ChoiceReply: ...


Waiting = Callable[[], AbstractContextManager[object]]  # entered while waiting for the model
RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT", ProgramReply, ReadingReply, ChoiceReply)


class _WrappedModel:
    """Language model that passes requests on to `model`; what else is done with them is in `_ask`."""

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.chooses, self.is_large = model.name, model.chooses, model.is_large
        self._model = model

    def _ask(self, ask: Callable[[RequestT], ReplyT], request: RequestT) -> ReplyT:
        raise NotImplementedError

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """See `LanguageModel`."""
        return self._ask(self._model.write_program, request)

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        """See `LanguageModel`."""
        return self._ask(self._model.read_command, request)

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        """See `LanguageModel`."""
        return self._ask(self._model.choose, request)


class CountedModel(_WrappedModel):
    """Wrapper that adds up the cost of all replies of `model` in `usage`."""

    def __init__(self, model: LanguageModel, waiting: Waiting = nullcontext) -> None:
        super().__init__(model)
        self.usage = Usage()
        self._waiting = waiting

    @property
    def guess(self) -> CountedModel | None:
        """See `LanguageModel`. Its cost is not counted, because models that guess are free."""
        guess = self._model.guess
        return None if guess is None else CountedModel(guess, self._waiting)

    def _ask(self, ask: Callable[[RequestT], ReplyT], request: RequestT) -> ReplyT:
        with self._waiting():
            reply = ask(request)
        self.usage += reply.usage
        return reply


class HeardModel(_WrappedModel):
    """Wrapper that passes each reading and program of `model`, with what was asked, to `hear` as plain values.

    The scene is left out, and so are choices, of which there are hundreds.
    """

    def __init__(self, model: LanguageModel, hear: Callable[[dict[str, object]], None]) -> None:
        super().__init__(model)
        self._hear = hear

    @property
    def guess(self) -> HeardModel | None:
        """See `LanguageModel`."""
        guess = self._model.guess
        return None if guess is None else HeardModel(guess, self._hear)

    def _ask(self, ask: Callable[[RequestT], ReplyT], request: RequestT) -> ReplyT:
        reply = ask(request)
        if not isinstance(request, ProgramRequest | ReadingRequest) or isinstance(reply, ChoiceReply):
            return reply
        refused = [{"answer": one.program, "problems": one.problems} for one in request.attempts]
        told = {"model": self.name, "command": request.command, "refused": refused, "usage": str(reply.usage)}
        if isinstance(reply, ReadingReply):
            names = ("task", "goals", "question", "reasoning")
            replies = [
                {
                    **{name: getattr(one, name) for name in names},
                    "constraints": [{"formula": rule.formula, "words": rule.words} for rule in one.constraints],
                }
                for one in reply.readings
            ]
            self._hear({**told, "asks": "reading", "replies": replies})
        elif isinstance(request, ProgramRequest):
            asked = {"rules": request.rules, "goals": request.goals}
            if request.function is not None:
                asked["function"] = (str(request.function),)
            replied = {name: getattr(reply, name) for name in ("program", "question", "reasoning")}
            self._hear({**told, "asks": "program", **asked, "replies": [replied]})
        return reply
