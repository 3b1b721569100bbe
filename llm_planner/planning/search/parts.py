"""Search around steps without effects, such as a wait: they keep their places, and the parts between are decoded.

No goal asks for such a step, so that a search for the goals of the whole plan would omit it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce

from llm_planner.ltl.formula import Constraint
from llm_planner.planning.choices import Step, merged
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.planning.search.prior import TreePrior
from llm_planner.plans.plan import PlanStep
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import foresee_plan
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene


def steps_without_effects(steps: Sequence[PlanStep], skills: Sequence[Signature]) -> frozenset[str]:
    """Return the ids of the steps that no goal asks for."""
    effects = {skill.name: skill.effects for skill in skills}
    return frozenset(step.id for step in steps if not effects.get(step.skill))


@dataclass(frozen=True)
class InParts:
    """Search for the parts of a plan that begins in `scene` and keeps `rules`."""

    scene: Scene
    skills: tuple[Signature, ...]
    rules: tuple[Constraint, ...]
    viewpoint: Viewpoint
    clock: Callable[[], float]

    def program(self, steps: Sequence[PlanStep], made: Sequence[Step], kept: Collection[str]) -> str:
        """Return a program with the `kept` steps, by id, in their places; "" if a part between them has no plan.

        Each part reaches what its own steps lead to. The caller rehearses the whole: a part is decoded without the
        history of the parts before it.

        Args:
            steps: Steps of the plan.
            made: Calls of the same steps, with what they promise.
            kept: Ids of the steps that stay.
        """
        table, text, part = {skill.name: skill for skill in self.skills}, "", list[Step]()
        for step, call in zip(steps, made, strict=True):
            if step.id not in kept:
                part.append(call)
                continue
            before = self._decoded(text, part)
            if before is None:
                return ""
            text, part = f"{text}{before}{call.call.text(table[step.skill], self.viewpoint)}\n", []
        last = self._decoded(text, part)
        return "" if last is None else text + last

    def _decoded(self, done: str, part: Sequence[Step]) -> str | None:
        """Return a program that reaches the effects of a part after the program `done`; None if there is none."""
        if not part:
            return ""
        scene = self.scene
        if done:
            program = Interpreter(check_program(done, self.skills, scene), self.viewpoint)
            scene = foresee_plan(program, scene, self.viewpoint).scene
        end = reduce(predict, (step.promises for step in part), scene)
        goals = tuple(goal for step in part for goal in step.promises if goal.holds(end))
        tree = merged([part])
        found = decode_plan(
            scene, self.skills, self.rules, goals, TreePrior(tree), tree.calls, viewpoint=self.viewpoint,
            clock=self.clock,
        )  # fmt: skip
        return found.program if found.verdict is Verdict.PLAN else None
