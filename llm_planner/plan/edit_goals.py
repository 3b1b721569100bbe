"""Goals of a command that a correction has outrun: who says "no, the lab" wants the parcel in the kitchen no more.

Rules are another matter: they stand until the person lifts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from llm_planner.plan.execution_state import Execution
from llm_planner.temporal.constraint import Constraint

Blocked = Callable[[Execution], bool]  # whether the rest of the plan breaks a rule, or misses a goal


def without_outrun_goals(state: Execution, is_blocked: Blocked) -> Execution:
    """Without the goals that the steps ahead, as they are now, do not come to; as it is where something else is in the
    way, too."""
    goals = [one for one in state.plan.constraints if one.goal]
    if not goals or not is_blocked(state) or is_blocked(_without(state, goals)):
        return state
    outrun = [goal for goal in goals if is_blocked(_without(state, (other for other in goals if other is not goal)))]
    after = _without(state, outrun)
    return _without(state, goals) if is_blocked(after) else after


def _without(state: Execution, goals: Iterable[Constraint]) -> Execution:
    dropped, watch = tuple(goals), state.watch
    for goal in dropped:
        watch = watch.without_rule(goal.formula)
    constraints = tuple(one for one in state.plan.constraints if one not in dropped)
    return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))
