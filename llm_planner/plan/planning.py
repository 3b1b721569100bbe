"""From words to a plan that may run: synthesis, rehearsal, and what to tell the person when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import LanguageModelError, LlmPlannerError, QuestionError
from llm_planner.language.model import LanguageModel
from llm_planner.plan.plan import Outcome, Plan
from llm_planner.plan.unroll import make_plan
from llm_planner.program.checker import CheckedProgram, check_program
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.program.synthesis import Synthesis, as_question, clean_command, write_program
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class Planned:
    """A plan, and the interpreter at the beginning of its program.

    `confidence` is the model's, in [0, 1], or None where no model was asked or it gives none.
    """

    plan: Plan
    interpreter: Interpreter
    confidence: float | None = None


def plan_command(
    command: str, scene: Scene, skills: Sequence[Signature], model: LanguageModel, viewpoint: Viewpoint = BEHIND
) -> Planned:
    """The plan for a command; nothing moves.

    Raises QuestionError when the person must be asked, ProgramError when no program that can work came of it,
    InputError for a command that is too long, LanguageModelError when the model does not answer.
    """
    command = clean_command(command)

    def rehearse(program: CheckedProgram) -> None:
        make_plan(command, Interpreter(program, viewpoint), scene, viewpoint)

    synthesis: Synthesis = write_program(command, scene, skills, model, rehearse)
    interpreter = Interpreter(synthesis.program, viewpoint)
    return Planned(make_plan(command, interpreter, scene, viewpoint), interpreter, synthesis.confidence)


def plan_program(
    command: str, text: str, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint = BEHIND
) -> Planned:
    """The plan for a program written by hand, or received from elsewhere; raises as `plan_command`."""
    try:
        interpreter = Interpreter(check_program(text, skills, scene), viewpoint)
        return Planned(make_plan(command, interpreter, scene, viewpoint), interpreter)
    except ProgramError as error:
        raise as_question(error) from error


def outcome_of(error: LlmPlannerError) -> tuple[Outcome, str]:
    """How a command ends that came to no plan, and what to tell the person."""
    if isinstance(error, QuestionError):
        return Outcome.QUESTION, str(error)
    if isinstance(error, LanguageModelError):
        return Outcome.FAILED, str(error)
    if isinstance(error, ProgramError):
        return Outcome.REFUSED, f"I found no program for this that may run: {error}"
    return Outcome.REFUSED, str(error)
