"""What a correction is read against: the running plan, the scene, what was said before, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from llm_planner.plan.edits import Clarify, Edit
from llm_planner.plan.plan import Plan, PlanStep, StepStatus
from llm_planner.program.signatures import Signature
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene, Vector3

if TYPE_CHECKING:
    from llm_planner.plan.execution_state import Execution

_AHEAD = (StepStatus.RUNNING, StepStatus.PENDING)


@dataclass(frozen=True)
class Situation:
    """`plan` is at `version`; `origins` is where each object lay before anything moved [m]; `edits` were applied,
    the newest last; `asked` is the question that is open."""

    plan: Plan
    scene: Scene
    skills: Mapping[str, Signature]
    viewpoint: Viewpoint = BEHIND
    version: int = 0
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    asked: Clarify | None = None

    @property
    def running(self) -> PlanStep | None:
        """The step under way."""
        return next((step for step in self.plan.steps if step.status is StepStatus.RUNNING), None)

    def past_the_grasp(self) -> Situation:
        """As words are to be read: a step that takes what is held already has nothing left that they could change, and
        who speaks means what comes after it."""
        now = self.running
        if now is None or not self.skills[now.skill].has_taken(self.scene.held):
            return self
        place = self.plan.steps.index(now)
        done, ahead = (*self.plan.steps[:place], replace(now, status=StepStatus.DONE)), self.plan.steps[place + 1 :]
        if ahead:
            ahead = (replace(ahead[0], status=StepStatus.RUNNING), *ahead[1:])
        return replace(self, plan=replace(self.plan, steps=(*done, *ahead)))

    @property
    def ahead(self) -> tuple[PlanStep, ...]:
        """The step under way and those after it."""
        return tuple(step for step in self.plan.steps if step.status in _AHEAD)

    @property
    def errands(self) -> tuple[tuple[PlanStep, ...], ...]:
        """The steps of the plan in groups that belong together: what is taken is also put down, and a way leads to
        what is done there."""
        groups: list[tuple[PlanStep, ...]] = []
        open_group: list[PlanStep] = []
        holding = False
        for step in self.plan.steps:
            skill = self.skills[step.skill]
            leads = any(atom.predicate == "reached" for atom in skill.effects)
            if leads and open_group and not holding:  # with empty hands a way after a way was one by itself
                groups.append(tuple(open_group))
                open_group = []
            open_group.append(step)
            holding = skill.fills_gripper or (holding and not skill.empties_gripper)
            if not holding and not leads:
                groups.append(tuple(open_group))
                open_group = []
        return (*groups, tuple(open_group)) if open_group else tuple(groups)

    def errand_of(self, step_id: str) -> tuple[PlanStep, ...]:
        """The group that the step is in; raises KeyError."""
        for group in self.errands:
            if any(step.id == step_id for step in group):
                return group
        raise KeyError(f"no step is called {step_id!r}; the steps are: {self.plan.listing}")


def situation_of(state: Execution, edits: tuple[Edit, ...] = (), asked: Clarify | None = None) -> Situation:
    """That of an execution which has seen a scene; `edits` were applied to it, the newest last."""
    assert state.scene is not None
    skills = state.interpreter.program.skills
    return Situation(state.plan, state.scene, skills, state.viewpoint, state.version, state.places_before, edits, asked)
