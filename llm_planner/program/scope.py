"""Variables: where they live, how they are read and how they get their values."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from llm_planner.program.problems import stopped
from llm_planner.program.values import Value, type_name


@dataclass
class Scope:
    """Variables by name. `own` are the names that belong here even before they are assigned (a function's locals)."""

    variables: dict[str, Value] = field(default_factory=dict)
    outer: Scope | None = None
    own: frozenset[str] = frozenset()

    def read(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.variables[node.id]
        if self.outer is None or node.id in self.own:
            raise stopped(node, f"the variable {node.id!r} has no value yet")
        return self.outer.read(node)


def assign(target: ast.expr, value: Value, scope: Scope) -> None:
    """Give `value` to a name or, item by item, to a tuple of names; raises RunError when the counts differ."""
    if isinstance(target, ast.Name):
        scope.variables[target.id] = value
        return
    assert isinstance(target, ast.Tuple)  # the parser allows nothing else
    if not isinstance(value, (list, tuple, str)):
        raise stopped(target, f"{type_name(value)} cannot be taken apart into {len(target.elts)} names")
    if len(value) != len(target.elts):
        raise stopped(target, f"{len(value)} values cannot be given to {len(target.elts)} names")
    for item, part in zip(target.elts, value, strict=True):
        assign(item, part, scope)
