"""By when something has to change: the time that a rule with windows in seconds leaves, read off its monitor."""

from __future__ import annotations

from math import inf

from llm_planner.plan.watch import Watched
from llm_planner.temporal.formula import Formula

EXACT = 0.01  # [s]


def deadline(one: Watched, now: float) -> float:
    """Until when [s] everything that the rule speaks of may stay as it is; infinite where it may for ever.

    Reckoned as if no scene came in between: of windows within windows, the earliest time that may be meant.
    `now` [s] is not before the last scene that the rule has read.
    """
    if one.seen is None or not one.constraint.formula.timed:
        return inf
    open_, lost = now, now + _longest(one.constraint.formula) + 1.0
    if not one.monitor.doomed_by(one.seen, lost):
        return inf
    while lost - open_ > EXACT:
        middle = (open_ + lost) / 2
        open_, lost = (open_, middle) if one.monitor.doomed_by(one.seen, middle) else (middle, lost)
    return open_


def _longest(formula: Formula) -> float:
    """More seconds than its windows reach, one within the other [s]."""
    return (formula.window[1] if formula.window else 0.0) + sum(map(_longest, formula.operands))
