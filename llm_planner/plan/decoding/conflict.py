"""Why there is no plan: the smallest set of demands that cannot be met together, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from llm_planner.errors import InputError
from llm_planner.language.understanding.meaning import Meanings
from llm_planner.plan.decoding.task import Demand, Task
from llm_planner.plan.plan import Goal
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.words import read_back
from llm_planner.world.places import Viewpoint

Impossible = Callable[[Task], bool]  # whether a search has ruled every plan out


def contradiction(task: Task) -> tuple[Demand, ...]:
    """The fewest constraints that contradict each other in any order of events; () where none do, or nobody knows."""
    constraints = task.judged
    try:
        found = Meanings(task.scene).conflict([one.formula for one in constraints])
    except InputError:  # too large to decide
        return ()
    return tuple(constraints[k] for k in found)


def smallest_conflict(
    task: Task, impossible: Impossible, in_time: Callable[[], bool], largest: int
) -> tuple[Demand, ...]:
    """The fewest demands of `task` that `impossible` finds cannot be met together here; () where it finds none.

    Sets are tried by size up to the `largest`, as long as it is `in_time`: no smaller set is known to be impossible.
    """
    for size in range(1, largest + 1):
        for chosen in combinations(task.demands, size):
            if not in_time():
                return ()
            if impossible(with_only(task, chosen)):
                return chosen
    return ()


def with_only(task: Task, demands: Sequence[Demand]) -> Task:
    """The task with only these demands."""
    constraints = [one for one in demands if isinstance(one, Constraint)]
    return task.part(constraints, [one for one in demands if isinstance(one, Goal)])


def because(demands: Sequence[Demand], viewpoint: Viewpoint) -> str:
    """One or two sentences for a person."""
    said = [_said(demand, viewpoint) for demand in demands]
    if len(said) == 1:
        return f"No plan can satisfy this, because here it cannot be that {said[0]}."
    together = "; and that ".join(said)
    return f"No plan can satisfy this, because these cannot be kept together here: that {together}."


def _said(demand: Demand, viewpoint: Viewpoint) -> str:
    if isinstance(demand, Goal):
        return demand.sentence(viewpoint)
    return read_back(demand.formula)
