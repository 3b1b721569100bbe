"""Sampling of several programs at once, unrolled over the scene and merged into an action tree (arXiv:2310.08582).

Also the check that `did(...)` in constraints refers to skills that the robot has and objects that they apply to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.model import LanguageModel, ProgramRequest, Usage
from llm_planner.ltl.formula import Constraint
from llm_planner.planning.choices import ActionTree, Step, call_of, merged
from llm_planner.plans.plan import Goal, PlanStep, goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import look_ahead, lying
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.propositions import parse_proposition
from llm_planner.scene.scene import Scene

SAMPLES = 5
TEMPERATURE = 0.8


@dataclass(frozen=True)
class Sampled:
    """Programs that can work and their tree; `goals` are those of each program.

    `refused` are the reasons against the other programs; `usage` is the cost of all.
    """

    tree: ActionTree
    programs: tuple[str, ...]
    goals: tuple[tuple[Goal, ...], ...]
    refused: tuple[str, ...]
    usage: Usage

    def is_reached(self, scene: Scene) -> bool:
        """Return whether the scene shows all goals of some program."""
        return any(all(goal.holds(scene) for goal in goals) for goals in self.goals)


def sample_plans(
    request: ProgramRequest,
    skills: Sequence[Signature],
    model: LanguageModel,
    viewpoint: Viewpoint = BEHIND,
) -> Sampled:
    """Ask once for `request.samples` programs.

    Raises QuestionError if the model asks, ProgramError if no program can work, and LanguageModelError.
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
    """Return the calls of a forecast that begins in `scene`, with the effects that each promises."""
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


def check_skills(constraints: Sequence[Constraint], skills: Sequence[Signature]) -> None:
    """Raise InputError if `did(...)` names a skill that is not in `skills` or that takes no object."""
    known = {skill.name: skill for skill in skills}
    possible = ", ".join(name for name, skill in known.items() if skill.takes_a_thing)
    for name in sorted({name for one in constraints for name in one.formula.propositions}):
        item = parse_proposition(name)
        if item.predicate == "did" and item.arguments[0] not in known:
            raise InputError(f"{name!r}: this robot has no skill {item.arguments[0]}; it has: {', '.join(known)}")
        if item.predicate == "did" and not known[item.arguments[0]].takes_a_thing:
            raise InputError(
                f"{name!r}: {known[item.arguments[0]]} is not done with {item.arguments[1]!r} in the first place; "
                f"did(...) can speak of: {possible}"
            )
