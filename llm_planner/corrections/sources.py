"""Sources of new rules and steps for corrections: the constraint reader and the planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from llm_planner.corrections.situation import Situation
from llm_planner.language.model import LanguageModel
from llm_planner.ltl.formula import Constraint
from llm_planner.plans.plan import PlanStep
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene

Formalise = Callable[[str, Scene], Sequence[Constraint]]  # raises LlmPlannerError if it is not a rule
WriteSteps = Callable[[str, Scene], Sequence[PlanStep]]  # raises LlmPlannerError if there is no plan


@dataclass(frozen=True)
class Sources:
    """`formalise` reads the constraints in a sentence; `write_steps` plans the steps of a command from a scene."""

    formalise: Formalise
    write_steps: WriteSteps


def sources_with(model: LanguageModel, skills: Sequence[Signature], viewpoint: Viewpoint) -> Sources:
    """Return sources that query this language model."""

    def formalise(sentence: str, scene: Scene) -> Sequence[Constraint]:
        from llm_planner.language.understanding.understand import understand

        return understand(sentence, scene, model).constraints

    def write_steps(command: str, scene: Scene) -> Sequence[PlanStep]:
        from llm_planner.planning.planning import plan_command

        return plan_command(command, scene, skills, model, viewpoint).plan.steps

    return Sources(formalise, write_steps)


def offline_sources(situation: Situation) -> Sources:
    """Return sources that query the embedded model, which is opened at the first query."""

    def formalise(sentence: str, scene: Scene) -> Sequence[Constraint]:
        return _opened(situation).formalise(sentence, scene)

    def write_steps(command: str, scene: Scene) -> Sequence[PlanStep]:
        return _opened(situation).write_steps(command, scene)

    return Sources(formalise, write_steps)


def _opened(situation: Situation) -> Sources:
    return sources_with(_embedded(), tuple(situation.skills.values()), situation.viewpoint)


@lru_cache(maxsize=1)
def _embedded() -> LanguageModel:
    from llm_planner.language.factory import open_model

    return open_model("embedded")
