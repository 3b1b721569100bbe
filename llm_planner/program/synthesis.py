"""From a person's words to a checked program: ask a language model, check, and hand the problems back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.counted import CountedModel
from llm_planner.language.model import (
    Attempt,
    Exchange,
    Failure,
    LanguageModel,
    MissingFunction,
    ProgramReply,
    ProgramRequest,
    Usage,
)
from llm_planner.language.plain_text import in_one_sentence, plain_text, shortened
from llm_planner.program.checker import CheckedProgram, check_program
from llm_planner.program.hierarchy import Hierarchy
from llm_planner.program.limits import MAX_COMMAND_CHARACTERS
from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

REPAIR_ROUNDS = 1
LARGE_REPAIR_ROUNDS = 2  # a large model learns from what it is told; the embedded one has no other answer
MAX_QUESTION_CHARACTERS = 500  # of a question that a model asks; what is longer is cut
Review = Callable[[CheckedProgram], object]  # looks at a program that passed the checker; may raise ProgramError


@dataclass(frozen=True)
class Asking:
    """How a program is asked for: under which `rules` (plain words), and how many `samples` of it, drawn at
    `temperature` from `seed`.

    `spare`: the further samples are other ways only; none takes the place of a best one that may not run.
    `repair_rounds` are how often a refused answer goes back with its problems, None for what suits the model. `goals`,
    `exchanges`, `failure`, `viewpoint` and `said` are told to it (see `ProgramRequest`).
    """

    rules: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.8
    seed: int = 0
    spare: bool = False
    repair_rounds: int | None = None
    goals: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    failure: Failure | None = None
    viewpoint: Viewpoint = BEHIND
    said: str = ""

    def rounds(self, model: LanguageModel) -> int:
        """How often a refused answer goes back to `model`."""
        if self.repair_rounds is not None:
            return self.repair_rounds
        return LARGE_REPAIR_ROUNDS if model.is_large else REPAIR_ROUNDS


@dataclass(frozen=True)
class Synthesis:
    """A program that may run, how sure the model was of it, what it cost, and the answers refused on the way.

    `confidence` is the model's, in [0, 1], or None where it gives none. `others` are further samples that may run too.
    """

    program: CheckedProgram
    confidence: float | None
    usage: Usage
    refused: tuple[Attempt, ...] = ()
    others: tuple[CheckedProgram, ...] = ()


def clean_command(text: str) -> str:
    """The command as a person sees it: escape sequences, control characters and surplus spaces are gone.

    Raises QuestionError when nothing was said that could be a command, InputError when far too much was.
    """
    if len(text) > MAX_COMMAND_CHARACTERS:
        raise InputError(
            f"the command has {len(text)} characters; at most {MAX_COMMAND_CHARACTERS} are read: "
            "say it more briefly, or give it in parts"
        )
    command = plain_text(text)
    if not command:
        raise QuestionError("What should I do? The command is empty; say something like: put the red block in the bowl")
    if sum(character.isalpha() for character in command) < 2:
        raise QuestionError(f"What do you mean by “{command[:60]}”? I need words, for instance: pick up the red block")
    return command


def write_program(
    command: str,
    scene: Scene,
    skills: Sequence[Signature],
    model: LanguageModel,
    review: Review = lambda program: None,
    asking: Asking | None = None,
) -> Synthesis:
    """The program that `model` writes for `command`, checked against `skills` and `scene`, and passed by `review`.

    Functions that it leaves undefined are asked for in turn. Where the best sample may not run, another that may takes
    its place unless it is `spare`; where none may, the best goes back with its problems. Raises QuestionError when the
    model asks, or when only the person can mend what is wrong; ProgramError when the answer to the last repair round
    may not run either; LanguageModelError and InputError as they come.
    """
    return _Dialogue(clean_command(command), scene, skills, model, review, asking or Asking()).synthesis()


class _Dialogue:
    """One command's questions to the model, and what they cost."""

    def __init__(
        self,
        command: str,
        scene: Scene,
        skills: Sequence[Signature],
        model: LanguageModel,
        review: Review,
        asking: Asking,
    ) -> None:
        self._request = ProgramRequest(
            command,
            scene,
            (),
            asking.rules,
            asking.samples,
            asking.temperature,
            asking.seed,
            skills=tuple(skills),
            goals=asking.goals,
            exchanges=asking.exchanges,
            failure=asking.failure,
            viewpoint=asking.viewpoint,
            said=asking.said,
        )
        self._skills, self._model, self._review = skills, CountedModel(model), review
        self._rounds, self._spare = asking.rounds(model), asking.spare
        self._hierarchy = Hierarchy(self._define, (skill.name for skill in skills))

    def synthesis(self) -> Synthesis:
        refused: tuple[Attempt, ...] = ()
        while True:
            reply = self._ask(replace(self._request, attempts=refused))
            passed, failed = self._sift((reply.program, *reply.others))
            if passed and not (self._spare and 0 in failed):
                confidence = None if 0 in failed else reply.confidence
                return Synthesis(passed[0], confidence, self._model.usage, refused, passed[1:])
            refused = (*refused, Attempt(reply.program, tuple(map(str, failed[0].problems)), reasoning=reply.reasoning))
            if len(refused) > self._rounds:
                raise as_question(failed[0]) from failed[0]

    def _sift(self, texts: Sequence[str]) -> tuple[tuple[CheckedProgram, ...], Mapping[int, ProgramError]]:
        """The programs that may run, without repetitions, and what is wrong with the others, by position."""
        passed: dict[str, CheckedProgram] = {}
        failed: dict[int, ProgramError] = {}
        for position, text in enumerate(texts):
            if text in texts[:position]:
                continue
            try:
                passed[text] = self._checked(text)
            except ProgramError as error:
                failed[position] = error
        return tuple(passed.values()), failed

    def _checked(self, text: str) -> CheckedProgram:
        program = check_program(self._hierarchy.complete(text), self._skills, self._request.scene)
        self._review(program)
        return program

    def _define(self, function: MissingFunction, attempts: tuple[Attempt, ...]) -> str:
        return self._ask(replace(self._request, attempts=attempts, function=function, samples=1)).program

    def _ask(self, request: ProgramRequest) -> ProgramReply:
        """The model's answer; raises QuestionError where that is a question."""
        reply = self._model.write_program(request)
        question = shortened(plain_text(reply.question), MAX_QUESTION_CHARACTERS)
        if question:
            raise QuestionError(question)
        return reply


def as_question(error: ProgramError) -> ProgramError | QuestionError:
    """What only a person can mend is a question, in words that do not speak of lines and skills."""
    if not error.person_can_answer:
        return error
    messages = dict.fromkeys(problem.message.partition(": ")[2] or problem.message for problem in error.problems)
    return QuestionError(f"{in_one_sentence(map(_sentence, messages))} What should I do instead?")


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
