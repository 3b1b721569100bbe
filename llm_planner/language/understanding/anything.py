"""Holding one or another of all that can be held is holding anything: two ways to say it are one formula."""

from __future__ import annotations

from llm_planner.temporal.formula import Formula, atom, disj
from llm_planner.temporal.substitution import substituted
from llm_planner.world.predicates import is_portable
from llm_planner.world.propositions import ANYTHING
from llm_planner.world.scene import Scene


def ways_to_hold(scene: Scene) -> tuple[str, ...]:
    """A proposition for every thing that can be held: one of these is so where anything is held."""
    return tuple(f"holding({item.name})" for item in scene.objects if is_portable(item))


def in_general(formula: Formula, scene: Scene) -> Formula:
    """The formula with `holding(anything)` in place of a disjunction over every portable thing of the scene."""
    every = frozenset(map(atom, ways_to_hold(scene)))

    def shorter(part: Formula) -> Formula:
        if part.operator != "|" or len(every) < 2 or not every <= set(part.operands):
            return part
        return disj(atom(f"holding({ANYTHING})"), *(one for one in part.operands if one not in every))

    return substituted(formula, shorter)
