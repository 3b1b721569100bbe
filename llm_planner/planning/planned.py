"""Values of planning: settings, plans, and the remainder of a plan; and the replanner that asks a large model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution_state import EndReason, Permit, permit_all
from llm_planner.language.model import Exchange, Failure, LanguageModel, ProgramRequest, Usage
from llm_planner.language.program_synthesis import write_program
from llm_planner.language.understanding.understand import SAMPLES, TEMPERATURE
from llm_planner.ltl.formula import Constraint
from llm_planner.planning.choices import NO_PLANS, ActionTree
from llm_planner.planning.rehearsal import Advice, Rehearsal
from llm_planner.planning.search.task import History
from llm_planner.plans.plan import Goal, Plan, PlanStep, StepStatus
from llm_planner.plans.privileges.decision import Decision, check_call
from llm_planner.plans.privileges.policy import EVERYTHING, Policy, read_policy
from llm_planner.plans.unroll import foresee_plan
from llm_planner.programs.checker import CheckedProgram
from llm_planner.programs.interpreter import Interpreter, SkillCall
from llm_planner.programs.problems import Problem, ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary


@dataclass(frozen=True)
class PlanningSettings:
    """How a command is read, what its source may do, and how its plan is rehearsed.

    Every plan is rehearsed symbolically, and a plan that certainly breaks a constraint is refused.

    Attributes:
        samples: Number of readings that vote, and of sampled programs.
        ask: Whether the person is asked about a plan that may break a constraint or shove an unmentioned object.
        rehearse_fully: Additional rehearsal in a copy of the simulation.
        clock: Clock that limits the search for a plan [s].
        exchanges: Previous commands, oldest first, for a large model.
        rules: What a plan must keep besides the rules in the words of its command.
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
    rules: tuple[Constraint, ...] = ()

    def permit(self, call: SkillCall, scene: Scene) -> Decision:
        """Decide whether the source may make a call now."""
        return check_call(self.policy, self.source, call, scene)


DEFAULTS = PlanningSettings()


@dataclass
class FailureReplanner:
    """Asks a large model once for another program after a step has failed for good; `rules` are in plain words."""

    model: LanguageModel
    task: str
    rules: tuple[str, ...]
    viewpoint: Viewpoint
    _asked: bool = field(default=False, init=False)

    @property
    def may_be_asked(self) -> bool:
        return not self._asked

    def program(self, left: Remainder, scene: Scene, skills: Sequence[Signature]) -> str:
        """Return a program that leads from `scene` to all goals that remain.

        Raises:
            QuestionError: The model asks a question.
            ProgramError: None of its programs may run.
            LanguageModelError: The model does not answer.
        """
        self._asked = True
        steps = left.plan.steps
        failed = [step for step in steps if step.status is StepStatus.FAILED][-1:]
        done = tuple(str(step) for step in steps if step.status is StepStatus.DONE)
        name, reason = (str(failed[0]), failed[0].message) if failed else ("a step", "it did not end well")
        failure = Failure(left.plan.program, done, name, reason)

        def call(step: PlanStep) -> tuple[str, dict[str, Argument]]:
            return step.skill, dict(step.arguments)

        def review(program: CheckedProgram) -> None:
            forecast = foresee_plan(Interpreter(program, self.viewpoint), scene, self.viewpoint)
            missing = [goal.sentence(self.viewpoint) for goal in left.goals if not goal.holds(forecast.scene)]
            problems = [Problem(0, 0, f"in the end it would not be so that {sentence}") for sentence in missing]
            problems += forecast.doubts
            if failed and forecast.steps[:1] and call(forecast.steps[0]) == call(failed[0]):
                problems.append(Problem(0, 0, f"{name} has failed and would fail again"))
            if problems:
                raise ProgramError(problems)

        request = ProgramRequest(
            self.task, scene, rules=self.rules, skills=tuple(skills), failure=failure, viewpoint=self.viewpoint
        )
        return write_program(request, self.model, review).program.text


@dataclass(frozen=True)
class Planned:
    """A plan, the interpreter at the beginning of its program, and the result of its rehearsal.

    Attributes:
        confidence: Confidence of the model, in [0, 1]; None if no model was asked or it gives none.
        usage: Cost of the model's answers.
        permit: Decides before each step whether its call may start in the current scene.
        tree: This plan and others with the same goals.
        last: Predicted scene at the end.
        told: What the program is expected to say to the person.
        replanner: Asked after a step that failed for good; None without a large model.
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
    """Error of a request that no plan can satisfy; the message names the conflict."""


@dataclass(frozen=True)
class Remainder:
    """What is left of an ended plan: its steps as they ended, the goals still wanted, and the history of the run.

    `tree` has the programs that were sampled for the same task; `replanner` writes another one.
    """

    plan: Plan
    reason: EndReason
    goals: tuple[Goal, ...]
    history: History
    tree: ActionTree = NO_PLANS
    replanner: FailureReplanner | None = None


REHEARSALS = ("off", "symbolic", "full")
PATIENCE = 30.0  # [s] wall time of a rehearsal in simulation


def planning_settings(
    rehearsal: str, privileges: Path | None, source: str, library: SkillLibrary, viewpoint: Viewpoint
) -> PlanningSettings:
    """Make the settings from a rehearsal (one of `REHEARSALS`), a policy file and a source of commands.

    Raises InputError for an unknown rehearsal and for an invalid policy file.
    """
    if rehearsal not in REHEARSALS:
        raise InputError(f"the rehearsal must be one of {', '.join(REHEARSALS)}, not {rehearsal!r}")
    policy = EVERYTHING if privileges is None else read_policy(privileges, library.signatures)
    settings = PlanningSettings(policy=policy, source=source, ask=rehearsal != "off")
    if rehearsal != "full":
        return settings
    from llm_planner.planning.in_process import full_rehearsal
    from llm_planner.simulation.worlds import copy_of

    fully = full_rehearsal(library, copy_of, viewpoint, PATIENCE, time.monotonic)
    return replace(settings, rehearse_fully=fully)
