"""Formulas with some of their parts replaced by others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llm_planner.temporal import formula as build
from llm_planner.temporal.formula import Formula


def rebuilt(f: Formula, operands: Sequence[Formula]) -> Formula:
    """The operator of `f`, with its window if it has one, over other operands."""
    if f.window is not None:
        return build.CONSTRUCTORS[f.operator](*operands, within=f.window)
    return build.CONSTRUCTORS[f.operator](*operands) if f.operands else f


def substituted(f: Formula, replace: Callable[[Formula], Formula]) -> Formula:
    """`replace` is asked for every part, the smallest first, and gives it back as it is or another in its place."""
    return replace(rebuilt(f, [substituted(g, replace) for g in f.operands]))
