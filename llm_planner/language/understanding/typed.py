"""A command that is written as a formula is taken at its word; no model reads it."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.model import ReadConstraint, Reading
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.monitor import Monitor
from llm_planner.temporal.parser import parse

# Nobody types these in a sentence; "&", "|" and arrows somebody may.
_SURE = re.compile(
    r"\[\]|<>|[¬∧∨→↔□◇]|(?:^|[\s(])[!~][\w(]|\b[FGXN]\s?[(\[!~]|\b[FGXN] [FGXN]\b|\b[FGXN]{2,3} [\w(!]"
    r"|^[FGX] \w|\b[FGX] \w+\("
)
_ENGLISH = re.compile(r"\b(?:the|and|but|then|please|put|pick|never|always|stack|bring|stay|keep)\b")
_MOMENTARY = frozenset({"", "true", "false", "!", "&", "|", "->", "<->"})
_LIKELY = re.compile(r"[&|]|->|=>|\b[UWRM]\b")


def typed(command: str) -> Reading | None:
    """The reading of a command that is a formula, None for a sentence; raises FormulaError where it has an error.

    What it joins by "&" is a constraint each: a goal where a robot that does nothing would miss it.
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
    parts = formula.operands if formula.operator == "&" else (formula,)
    words = [command] if len(parts) == 1 else map(str, parts)
    written = [ReadConstraint(str(part), said, _is_missed(part)) for part, said in zip(parts, words, strict=True)]
    return Reading(constraints=tuple(written), log_probability=0.0)


def _is_missed(formula: Formula) -> bool:
    """Whether nothing happening at all would not do. What must hold at every moment from now on is nothing to bring
    about: it holds already, or it is lost."""
    from_now_on = formula.window is None or formula.window[0] == 0
    if formula.operator == "G" and from_now_on and _is_of_one_moment(formula.operands[0]):
        return False
    monitor = Monitor(formula)
    monitor.observe(frozenset(), 0.0)
    return not monitor.accepts


def _is_of_one_moment(formula: Formula) -> bool:
    return formula.operator in _MOMENTARY and all(map(_is_of_one_moment, formula.operands))
