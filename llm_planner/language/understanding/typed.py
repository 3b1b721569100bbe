"""A command that is written as a formula is taken at its word; no model reads it."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.model import ReadConstraint, Reading
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.monitor import Monitor
from llm_planner.temporal.parser import parse

# Nobody types these in a sentence; "&" and "|" somebody may.
_SURE = re.compile(
    r"->|=>|\[\]|<>|[¬∧∨→↔□◇]|(?:^|[\s(])[!~][\w(]|\b[FGXN]\s?[(\[!~]|\b[FGXN] [FGXN]\b|\b[FGXN]{2,3} [\w(!]"
    r"|^[FGX] \w|\b[FGX] \w+\("
)
_ENGLISH = re.compile(r"\b(?:the|and|but|then|please|put|pick|never|always|stack|bring|stay|keep)\b")
_LIKELY = re.compile(r"[&|]|\b[UWRM]\b")


def typed(command: str) -> Reading | None:
    """The reading of a command that is a formula, None for a sentence; raises FormulaError where it has an error.

    It is a goal where a robot that does nothing would miss it.
    """
    sure = bool(_SURE.search(command))
    if not sure and not _LIKELY.search(command):
        return None
    try:
        formula = parse(command)
    except InputError as error:
        if sure and _ENGLISH.search(command):
            raise InputError(
                f"“{command}” mixes a sentence with a formula; say all of it in words, or give the formula alone"
            ) from error
        if sure:
            raise
        return None
    return Reading(constraints=(ReadConstraint(str(formula), command, _is_missed(formula)),), log_probability=0.0)


def _is_missed(formula: Formula) -> bool:
    """Whether nothing happening at all would not do."""
    monitor = Monitor(formula)
    monitor.observe(frozenset(), 0.0)
    return not monitor.accepts
