"""Several programs asked for at once, unrolled over the scene and merged into an action tree (arXiv:2310.08582)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import QuestionError
from llm_planner.language.model import LanguageModel, ProgramRequest, Usage
from llm_planner.plan.action_tree import ActionTree, Step, merged
from llm_planner.plan.choices import call_of
from llm_planner.plan.plan import Goal, PlanStep, goals_of
from llm_planner.plan.prediction import predict
from llm_planner.plan.unroll import look_ahead, lying
from llm_planner.program.checker import check_program
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

SAMPLES = 5
TEMPERATURE = 0.8


@dataclass(frozen=True)
class Sampled:
    """The tree of the programs that can work; `programs` are their texts and `goals` what each ends with, in order.

    `refused` are the reasons against the others; `usage` is what all of them have cost.
    """

    tree: ActionTree
    programs: tuple[str, ...]
    goals: tuple[tuple[Goal, ...], ...]
    refused: tuple[str, ...]
    usage: Usage

    def is_reached(self, scene: Scene) -> bool:
        """Whether the scene shows all that some of the programs are judged by."""
        return any(all(goal.holds(scene) for goal in goals) for goals in self.goals)


def sample_plans(
    request: ProgramRequest,
    skills: Sequence[Signature],
    model: LanguageModel,
    viewpoint: Viewpoint = BEHIND,
) -> Sampled:
    """`request.samples` programs, asked for once.

    Raises QuestionError when the model asks, ProgramError when none of the programs can work, `LanguageModelError`.
    """
    reply = model.write_program(replace(request, skills=tuple(skills)))
    if reply.question:
        raise QuestionError(reply.question)
    plans: list[tuple[Step, ...]] = []
    programs: list[str] = []
    goals: list[tuple[Goal, ...]] = []
    refused: list[ProgramError] = []
    for text in (reply.program, *reply.others):
        try:
            interpreter = Interpreter(check_program(text, skills, request.scene), viewpoint)
            forecast = look_ahead(interpreter, request.scene, viewpoint, rehearse=True)
        except ProgramError as error:
            refused.append(error)
            continue
        plans.append(promised_steps(forecast.steps, skills, request.scene, viewpoint))
        programs.append(text)
        goals.append(forecast.goals)
    if not plans:
        raise refused[0]
    reasons = tuple(str(error) for error in refused)
    return Sampled(merged(plans), tuple(programs), tuple(goals), reasons, reply.usage)


def promised_steps(
    steps: Sequence[PlanStep], skills: Sequence[Signature], scene: Scene, viewpoint: Viewpoint
) -> tuple[Step, ...]:
    """The calls of a forecast with what each promises, begun in `scene`."""
    table = {skill.name: skill for skill in skills}
    origins = lying(scene)
    found = []
    for step in steps:
        skill = table[step.skill]
        call = call_of(step, skill, viewpoint)
        promises = goals_of(skill, step.id, call.values(skill), scene, dict(origins))
        found.append(Step(call, promises))
        scene = predict(scene, promises)
        origins.update(lying(scene))
    return tuple(found)
