"""The negation of a formula with the negation moved inwards by one operator."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.temporal.formula import (
    Formula,
    conj,
    disj,
    finally_,
    globally,
    iff,
    neg,
    next_,
    release,
    strong_release,
    until,
    weak_next,
    weak_until,
)

_DUALS: dict[str, Callable[..., Formula]] = {
    "&": disj, "|": conj, "X": weak_next, "N": next_, "F": globally, "G": finally_,
    "U": release, "R": until, "W": strong_release, "M": weak_until,
}  # fmt: skip


def dual(f: Formula) -> Formula | None:
    """What `!f` says without the negation in front; None where it cannot be said so."""
    if f.operator == "->":
        return conj(f.operands[0], neg(f.operands[1]))
    if f.operator == "<->":
        return iff(neg(f.operands[0]), f.operands[1])
    if f.operator not in _DUALS or (f.operator == "U" and f.window):
        return None
    operands = [neg(g) for g in f.operands]
    return _DUALS[f.operator](*operands, within=f.window) if f.window else _DUALS[f.operator](*operands)
