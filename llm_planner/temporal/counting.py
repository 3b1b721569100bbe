"""How often something happens, as formulas; a stretch of moments in which it holds counts once.

The forms are those of Lang2LTL's data (arXiv 2302.11649).
"""

from __future__ import annotations

from llm_planner.errors import InputError
from llm_planner.temporal.formula import Formula, conj, disj, finally_, globally, neg, strong_release, until

MAX_COUNT = 12  # beyond, formulas become too deep


def at_least(times: int, f: Formula) -> Formula:
    """`f` in at least so many stretches; raises InputError for a count that is not 1 to 12."""
    _check(times)
    found = finally_(f)
    for _ in range(times - 1):
        found = finally_(conj(f, until(f, conj(neg(f), until(neg(f), found)))))
    return found


def at_most(times: int, f: Formula) -> Formula:
    """`f` in at most so many stretches, 0 to 11."""
    return neg(at_least(times + 1, f))


def exactly(times: int, f: Formula) -> Formula:
    """`f` in exactly so many stretches, 1 to 12."""
    _check(times)
    begun, over = f, globally(neg(f))
    for _ in range(times - 1):
        begun = conj(f, finally_(conj(neg(f), finally_(begun))))
        over = globally(disj(neg(f), globally(disj(f, over))))
    return strong_release(begun, disj(neg(f), globally(disj(f, over))))


def _check(times: int) -> None:
    if not 1 <= times <= MAX_COUNT:
        raise InputError(f"{times} times cannot be written as a formula; give a number from 1 to {MAX_COUNT}")
