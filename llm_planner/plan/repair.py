"""A new plan for what is left of one that may not go on for its constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.plan.decoding.decode import Verdict, decode_plan
from llm_planner.plan.decoding.task import History
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.plan import Goal, Plan
from llm_planner.plan.planning import ImpossibleError, Planned
from llm_planner.plan.unroll import make_plan
from llm_planner.program.checker import check_program
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.signatures import Signature
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class Remainder:
    """What is left to do: the plan that could not go on, the effects still wanted of it, what has been seen so far."""

    plan: Plan
    goals: tuple[Goal, ...]
    history: History


def remainder_of(state: Execution) -> Remainder:
    """What an execution that ended with `EndReason.REPLAN` leaves. Effects of the steps ahead are those foreseen."""
    return Remainder(state.plan, state.wanted, History(state.watch.trace, state.watch.origins))


def plan_remainder(
    left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint = BEHIND
) -> Planned:
    """The plan for `left` from `scene` on, found by decoding with no model asked; finished steps are not repeated.

    Raises ImpossibleError where there is none, with the reason.
    """
    # Distances are kept as they were asked for, with nothing to spare: what has been seen was judged by these.
    decoded = decode_plan(
        scene, skills, left.plan.constraints, left.goals, viewpoint=viewpoint, caution=0.0, history=left.history
    )
    if decoded.verdict is not Verdict.PLAN:
        raise ImpossibleError(decoded.reason)
    interpreter = Interpreter(check_program(decoded.program, skills, scene), viewpoint)
    return Planned(make_plan(left.plan.command, interpreter, scene, viewpoint), interpreter)
