"""Asks a large model once for another way after a step has failed for good: with program, steps, failure and scene."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from llm_planner.errors import LlmPlannerError
from llm_planner.execution.execution_state import EndReason, Permit, permit_all
from llm_planner.language.model import Exchange, Failure, LanguageModel, Usage
from llm_planner.language.program_synthesis import Asking, write_program
from llm_planner.language.understanding.understand import SAMPLES, TEMPERATURE
from llm_planner.planning.choices import NO_PLANS, ActionTree
from llm_planner.planning.rehearsal import Advice, Rehearsal
from llm_planner.planning.search.task import History
from llm_planner.plans.plan import Goal, Plan, PlanStep, StepStatus
from llm_planner.plans.privileges.decision import Decision, check_call
from llm_planner.plans.privileges.policy import EVERYTHING, Policy
from llm_planner.plans.unroll import foresee
from llm_planner.programs.checker import CheckedProgram
from llm_planner.programs.interpreter import Interpreter, SkillCall
from llm_planner.programs.problems import Problem, ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene


@dataclass(frozen=True)
class PlanningSettings:
    """How a command is read, what its `source` may have the robot do, and how its plan is rehearsed.

    Up to `samples` readings vote, drawn at `temperature` from `seed`; as many programs are sampled, to choose among
    under constraints, and to go on with where a step fails. Every plan is rehearsed symbolically, and one that would
    break a constraint is refused. `ask`: the person is asked about one that only may, or shoves what it does not speak
    of. `rehearse_fully` runs the plan in a copy of the simulation besides. `clock` [s] is the one by which a search for
    a plan gives up. `exchanges` are the commands before, the newest last, for a large model.
    """

    samples: int = SAMPLES
    temperature: float = TEMPERATURE
    seed: int = 0
    policy: Policy = EVERYTHING
    source: str = "cli"
    ask: bool = True
    rehearse_fully: Callable[[Planned, Scene], Rehearsal] | None = None
    clock: Callable[[], float] = time.thread_time
    exchanges: tuple[Exchange, ...] = ()

    def permit(self, call: SkillCall, scene: Scene) -> Decision:
        """Whether the source may have a call done now."""
        return check_call(self.policy, self.source, call, scene)


DEFAULTS = PlanningSettings()


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


@dataclass(frozen=True)
class Planned:
    """A plan, the interpreter at the beginning of its program, and what its rehearsal has shown.

    `confidence` is the model's, in [0, 1], or None where no model was asked or it gives none; `usage` is what it cost.
    `permit` is to be asked before each step, with the scene of that moment. `tree` has this plan and others that come
    to the same. `last` is the scene that it should end in, `told` what its program should say to the person;
    `replanner` is asked after a step that failed for good, None where no large model is.
    """

    plan: Plan
    interpreter: Interpreter
    confidence: float | None = None
    rehearsal: Rehearsal = field(default_factory=lambda: Rehearsal(Advice.ALLOW))
    usage: Usage = field(default_factory=Usage)
    permit: Permit = permit_all
    tree: ActionTree = NO_PLANS
    last: Scene | None = None
    told: tuple[str, ...] = ()
    replanner: FailureReplanner | None = None


class ImpossibleError(LlmPlannerError):
    """No plan can satisfy what was asked; the message says what excludes what."""


@dataclass(frozen=True)
class Remainder:
    """What is left to do: the plan with its steps as they ended and why it did, the effects wanted of it, and what the
    run has shown so far. `tree` has the programs that were sampled for the same; `replanner` writes another."""

    plan: Plan
    reason: EndReason
    goals: tuple[Goal, ...]
    history: History
    tree: ActionTree = NO_PLANS
    replanner: FailureReplanner | None = None
