"""A rule that forbids what the task asks for is read wrongly, or it is a contradiction: both are asked about."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

_MOVE = r"(?:put|place|move|stack|bring|take|carry|pick up|pick|lift|push|set|drop|lay|grab|fetch|slide)"


def check_task(task: str, constraint: Constraint, scene: Scene) -> None:
    """Raises InputError when the task has a thing moved that the constraint says is never moved or held."""
    text = plain(task)
    for name in _never_moved(constraint.formula):
        if name in scene.names and re.search(rf"\b{_MOVE} (?:the |a |that |my )?{plain(name)}\b", text):
            raise InputError(f"“{constraint.words}” forbids what the task “{task}” asks for: that the {name} is moved")


def _never_moved(f: Formula) -> frozenset[str]:
    """Things of which `f` says that they are never held or moved, whatever happens."""
    if f.operator == "&":
        return frozenset[str]().union(*map(_never_moved, f.operands))
    if f.operator != "G" or f.window is not None or f.operands[0].operator != "!":
        return frozenset()
    denied = f.operands[0].operands[0]
    states = denied.operands if denied.operator == "|" else (denied,)
    items = [parse_proposition(state.name) for state in states if state.name]
    return frozenset(item.arguments[0] for item in items if item.predicate in ("holding", "moved"))
