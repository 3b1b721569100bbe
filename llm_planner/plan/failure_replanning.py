"""Asks a large model once for another way after a step has failed for good: with program, steps, failure and scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llm_planner.language.model import Failure, LanguageModel
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.plan.unroll import foresee
from llm_planner.program.checker import CheckedProgram
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.problems import Problem, ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.program.synthesis import Asking, write_program
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene

if TYPE_CHECKING:
    from llm_planner.plan.repair import Remainder


@dataclass
class FailureReplanner:
    """Asks `model` for the rest of one command, whose `task` is to be done under `rules` (plain words); once."""

    model: LanguageModel
    task: str
    rules: tuple[str, ...]
    viewpoint: Viewpoint
    _asked: bool = field(default=False, init=False)

    @property
    def may_be_asked(self) -> bool:
        return not self._asked

    def program(self, left: Remainder, scene: Scene, skills: Sequence[Signature]) -> str:
        """A program that leads from `scene` to all effects that are still wanted.

        Raises QuestionError where the model asks, ProgramError where none of its programs may run, and
        LanguageModelError.
        """
        self._asked = True
        steps = left.plan.steps
        failed = [step for step in steps if step.status is StepStatus.FAILED][-1:]
        done = tuple(str(step) for step in steps if step.status is StepStatus.DONE)
        name, reason = (str(failed[0]), failed[0].message) if failed else ("a step", "it did not end well")
        failure = Failure(left.plan.program, done, name, reason)

        def review(program: CheckedProgram) -> None:
            forecast = foresee(Interpreter(program, self.viewpoint), scene, self.viewpoint)
            missing = [goal.sentence(self.viewpoint) for goal in left.goals if not goal.holds(forecast.scene)]
            problems = [Problem(0, 0, f"in the end it would not be so that {sentence}") for sentence in missing]
            problems += forecast.doubts
            if failed and forecast.steps[:1] and _same_call(forecast.steps[0], failed[0]):
                problems.append(Problem(0, 0, f"{name} has failed and would fail again"))
            if problems:
                raise ProgramError(problems)

        asking = Asking(self.rules, failure=failure, viewpoint=self.viewpoint)
        return write_program(self.task, scene, skills, self.model, review, asking).program.text


def _same_call(a: PlanStep, b: PlanStep) -> bool:
    return (a.skill, dict(a.arguments)) == (b.skill, dict(b.arguments))
