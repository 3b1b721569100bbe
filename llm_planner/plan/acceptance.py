"""The executor's own look at a plan that it was sent: checked and rehearsed again, so that nothing unchecked moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.errors import InputError
from llm_planner.plan.execution_state import Execution, continue_execution, start_execution
from llm_planner.plan.plan import Plan
from llm_planner.plan.planning import Planned, plan_program
from llm_planner.plan.planning_settings import DEFAULTS, PlanningSettings
from llm_planner.plan.rehearsal import Advice, rehearse
from llm_planner.program.signatures import Signature
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene


def accept(
    shown: Plan,
    scene: Scene,
    skills: Sequence[Signature],
    viewpoint: Viewpoint,
    settings: PlanningSettings = DEFAULTS,
    unfinished: Execution | None = None,
) -> Execution:
    """The state in which the plan begins, or goes on where `unfinished` has ended.

    The source in `settings` is held to its policy now, and again at every step. What the rehearsal doubts has been
    asked before the plan was sent; what it blocks raises InputError. Raises also as `plan_program`.
    """
    planned = plan_program(shown.command, shown.program, scene, skills, viewpoint, settings)
    if unfinished is None:
        plan = replace(planned.plan, constraints=shown.constraints)
        return _sure(start_execution(plan, planned.interpreter, viewpoint, scene, planned.permit), scene)
    return go_on(unfinished, planned, scene)


def go_on(unfinished: Execution, planned: Planned, scene: Scene) -> Execution:
    """The state in which `planned` goes on where `unfinished` has ended; raises InputError as `accept`."""
    return _sure(continue_execution(unfinished, planned.plan, planned.interpreter), scene)


def _sure(state: Execution, scene: Scene) -> Execution:
    rehearsal = rehearse(state, scene, max_scenes=0)  # only the sure branch can block
    if rehearsal.verdict is Advice.BLOCK:
        raise InputError(f"The plan may not run: {' '.join(rehearsal.reasons)}")
    return state
