"""The program's own functions: their parameters, defaults and local names, read off the syntax tree."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from llm_planner.program.signatures import REQUIRED, Parameter, Signature


def function_defaults(definition: ast.FunctionDef) -> dict[str, Any]:
    """Default values by parameter name; the parser allows constants only."""
    names = [argument.arg for argument in definition.args.args]
    defaults = definition.args.defaults
    values = [default.value for default in defaults if isinstance(default, ast.Constant)]
    return dict(zip(names[len(names) - len(defaults) :], values, strict=True))


def function_signature(definition: ast.FunctionDef) -> Signature:
    """How the function is called."""
    defaults = function_defaults(definition)
    names = [argument.arg for argument in definition.args.args]
    return Signature(definition.name, tuple(Parameter(name, "any", defaults.get(name, REQUIRED)) for name in names))


def local_names(definition: ast.FunctionDef) -> frozenset[str]:
    """Parameters and every name assigned in the body, which Python makes local even before it has a value."""
    names = {argument.arg for argument in definition.args.args}
    stack: list[ast.AST] = list(definition.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)):  # their targets live in a scope of their own
            stack.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def called_names(node: ast.AST) -> frozenset[str]:
    """Names of everything called somewhere under `node`."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def call_cycle(name: str, functions: Mapping[str, ast.FunctionDef]) -> tuple[str, ...]:
    """The shortest way in which function `name` calls itself, from `name` to `name`, or ()."""
    ways: deque[tuple[str, ...]] = deque([(name,)])
    reached: set[str] = set()
    while ways:
        way = ways.popleft()
        for callee in sorted(called_names(functions[way[-1]]) & functions.keys()):
            if callee == name:
                return (*way, name)
            if callee not in reached:
                reached.add(callee)
                ways.append((*way, callee))
    return ()


def circle_message(circle: Sequence[str]) -> str:
    """What to tell of functions that call each other in a circle."""
    through = f" (by {' calls '.join(circle)})" if len(circle) > 2 else ""
    return f"the function {circle[0]!r} calls itself{through}; use a loop"
