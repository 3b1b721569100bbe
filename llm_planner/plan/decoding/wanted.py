"""What a formula would have so: the propositions that help to satisfy it by being true, or by being false."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import Proposition, parse_proposition


def wanted(constraints: Sequence[Constraint], so: bool = True) -> tuple[Proposition, ...]:
    """Propositions that can help to satisfy some of the formulas by holding, or by not holding where not `so`; in
    alphabetical order."""
    names = frozenset[str]().union(*(_asked_for(one.formula, so) for one in constraints))
    return tuple(map(parse_proposition, sorted(names)))


def _asked_for(f: Formula, so: bool = True) -> frozenset[str]:
    """Propositions that can help to satisfy the formula by being true, or by being false where not `so`. Where changes
    are counted any change can help."""
    if f.operator == "":
        return frozenset(f.propositions) if so else frozenset()
    if f.operator == "<->" or counts_changes(f):
        return frozenset(f.propositions)
    signs = {"!": (not so,), "->": (not so, so)}.get(f.operator, (so,) * len(f.operands))
    return frozenset[str]().union(*(_asked_for(g, sign) for g, sign in zip(f.operands, signs, strict=True)))


def counts_changes(f: Formula) -> bool:
    """Whether it speaks of the next change."""
    return f.operator in ("X", "N") or any(map(counts_changes, f.operands))
