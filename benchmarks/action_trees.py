"""Several programs sampled at once, unrolled over the scene and merged into an action tree (arXiv:2310.08582)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.errors import QuestionError
from llm_planner.language.model import LanguageModel, ProgramRequest, Usage
from llm_planner.planning.choices import ROOT, ActionTree, Step, can_start, merged, promised_steps
from llm_planner.plans.plan import Goal
from llm_planner.plans.unroll import look_ahead
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene

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


PATIENCE = 3  # failures of a call before another branch is tried


@dataclass(frozen=True)
class Walk:
    """Position in an action tree: below `node`, the last one that succeeded. `failures` are counted per node."""

    tree: ActionTree
    node: int = ROOT
    failures: Mapping[int, int] = field(default_factory=dict)

    def succeeded(self, number: int) -> Walk:
        """Return the walk after the call of a node has succeeded."""
        return replace(self, node=number)

    def failed(self, number: int) -> Walk:
        """Return the walk after the call of a node has failed."""
        return replace(self, failures={**self.failures, number: self.failures.get(number, 0) + 1})

    def next_step(self, scene: Scene, skills: Sequence[Signature]) -> int | None:
        """Return the next node to execute in `scene`, or None if no branch is left."""
        table = {skill.name: skill for skill in skills}

        def startable(number: int) -> bool:
            step = self.tree.nodes[number].step
            if step is None or step.call.skill not in table or self.failures.get(number, 0) >= PATIENCE:
                return False
            return can_start(step.call, table[step.call.skill], scene)

        return self.tree.next(self.node, scene, startable)
