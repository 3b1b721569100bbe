"""From a person's words to a checked program: ask a language model, check, and hand the problems back once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.model import Attempt, LanguageModel, ProgramReply, ProgramRequest, Usage
from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.program.checker import CheckedProgram, check_program
from llm_planner.program.limits import MAX_COMMAND_CHARACTERS
from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.world.scene import Scene

REPAIR_ROUNDS = 1
MAX_QUESTION_CHARACTERS = 500  # of a question that a model asks; what is longer is cut
Review = Callable[[CheckedProgram], object]  # looks at a program that passed the checker; may raise ProgramError


@dataclass(frozen=True)
class Synthesis:
    """A program that may run, how sure the model was of it, what it cost, and the answers refused on the way.

    `confidence` is the model's, in [0, 1], or None where it gives none.
    """

    program: CheckedProgram
    confidence: float | None
    usage: Usage
    refused: tuple[Attempt, ...] = ()


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
) -> Synthesis:
    """The program that `model` writes for `command`, checked against `skills` and `scene`, and passed by `review`.

    Raises QuestionError when the model asks, or when only the person can mend what is wrong; ProgramError when the
    answer to the repair round may not run either; LanguageModelError and InputError as they come.
    """
    command = clean_command(command)
    refused: tuple[Attempt, ...] = ()
    usage = Usage()
    while True:
        reply = model.write_program(ProgramRequest(command, scene, refused))
        usage = _total(usage, reply.usage)
        question = shortened(plain_text(reply.question), MAX_QUESTION_CHARACTERS)
        if question:
            raise QuestionError(question)
        try:
            program = _checked(reply, scene, skills, review)
        except ProgramError as error:
            refused = (*refused, Attempt(reply.program, tuple(map(str, error.problems))))
            if len(refused) > REPAIR_ROUNDS:
                raise as_question(error) from error
        else:
            return Synthesis(program, reply.confidence, usage, refused)


def _checked(reply: ProgramReply, scene: Scene, skills: Sequence[Signature], review: Review) -> CheckedProgram:
    program = check_program(reply.program, skills, scene)
    review(program)
    return program


def as_question(error: ProgramError) -> ProgramError | QuestionError:
    """What only a person can mend is a question, in words that do not speak of lines and skills."""
    if not error.person_can_answer:
        return error
    messages = dict.fromkeys(problem.message.partition(": ")[2] or problem.message for problem in error.problems)
    return QuestionError(f"{'; '.join(_sentence(message) for message in messages)}. What should I do instead?")


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _total(a: Usage, b: Usage) -> Usage:
    return Usage(a.prompt_tokens + b.prompt_tokens, a.completion_tokens + b.completion_tokens, a.requests + b.requests)
