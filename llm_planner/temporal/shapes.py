"""Formulas that people mean as one thing: so many times, one after another, in this order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm_planner.temporal.clauses import is_momentary
from llm_planner.temporal.counting import MAX_COUNT, at_least, at_most, exactly
from llm_planner.temporal.formula import Formula, conj, finally_, neg, until

_COUNTS: tuple[tuple[str, Callable[[int, Formula], Formula], int], ...] = (
    ("at least", at_least, 2),
    ("at most", at_most, 1),
    ("exactly", exactly, 1),
)


@dataclass(frozen=True)
class Count:
    """`words` ("at most") so many `times` that `formula` holds, each stretch counted once."""

    words: str
    times: int
    formula: Formula


def count_in(f: Formula) -> Count | None:
    """The counting formula that it is, if it is one."""
    if len(f.propositions) != 1 or f.operator not in ("F", "M", "!"):
        return None
    inner = f.operands[0] if f.operator == "!" else f
    if inner.operator not in ("F", "M") or inner.window:
        return None
    item = _counted(inner)
    for words, formula_of, fewest in _COUNTS:
        for times in range(fewest, MAX_COUNT):
            found = formula_of(times, item)
            if found is f:
                return Count(words, times, item)
            if found.size > f.size:
                break
    return None


def _counted(f: Formula) -> Formula:
    """The smallest operand of what an F or M awaits."""
    inside = f.operands[0]
    return inside.operands[0] if inside.operator == "&" else inside


@dataclass(frozen=True)
class Visit:
    """That `formula` holds at some moment: after the visit before it, or at the same moment unless `later`."""

    formula: Formula
    later: bool


def visits_in(f: Formula) -> tuple[Visit, ...]:
    """a, b, c of `F (a & F (b & F c))`, where X before an F makes the next visit `later`; () for anything else."""
    found: list[Visit] = []
    after = False
    while f.operator == "F" and f.window is None:
        inside = f.operands[0]
        if is_momentary(inside):
            return (*found, Visit(inside, after))
        parts = inside.operands if inside.operator == "&" else ()
        later = [part for part in parts if not is_momentary(part)]
        rest = conj(*(part for part in parts if is_momentary(part)))
        if len(later) != 1 or len(parts) < 2:
            return ()
        found.append(Visit(rest, after))
        after = later[0].operator == "X"
        f = later[0].operands[0] if after else later[0]
    return ()


def once_before(f: Formula) -> tuple[Formula, Formula] | None:
    """a, b of `!a U (a U (!a U b))`: b comes, and before it a holds in at most one stretch."""
    if f.operator != "U" or f.operands[0].operator != "!" or f.operands[1].operator != "U":
        return None
    item, last = neg(f.operands[0]), f.operands[1].operands[1]
    awaited = last.operands[-1] if last.operator == "U" else last
    if not (item.name and is_momentary(awaited)):
        return None
    return (item, awaited) if f is until(neg(item), until(item, until(neg(item), awaited))) else None


@dataclass(frozen=True)
class Order:
    """The `visits` in turn, none before its turn; `once`: each for one stretch before the next comes."""

    visits: tuple[Formula, ...]
    once: bool


def order_in(parts: Sequence[Formula]) -> Order | None:
    """The order that a conjunction demands, where that is all that it demands."""
    ahead = {
        u.operands[1]: neg(u.operands[0]) for u in parts if u.operator == "U" and u.operands[1].name and not u.window
    }
    ahead = {first: then for first, then in ahead.items() if then.name}
    starts = [first for first in ahead if first not in ahead.values()]
    if len(starts) != 1:
        return None
    chain = [starts[0]]
    while chain[-1] in ahead and ahead[chain[-1]] not in chain:
        chain.append(ahead[chain[-1]])
    pairs = list(pairwise(chain))
    plain = {*(until(neg(then), first) for first, then in pairs), finally_(chain[-1])}
    if {once_before(f) for f in set(parts) - plain} == set(pairs) and plain <= set(parts):
        return Order(tuple(chain), once=True)
    return Order(tuple(chain), once=False) if set(parts) == plain else None
