"""What a reading must not turn into its contrary: to put down is not to hold, to wait first is not to stay there."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.denials import merely_asks
from llm_planner.language.understanding.mentions import arguments_of, names_in
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

_PUT_DOWN = re.compile(r"\b(?:(?:put|set|lay)(?: \w+){1,4} down|(?:put|set|lay) down|release|let go of)\b")
_PICK_UP = re.compile(r"\b(?:pick|grab|take|lift|get|fetch|hold|carry)\b")
_WAIT = re.compile(r"\b(?:wait|hold on|hang on|pause|hold still|stand still|stand by)\b")
_THEN = re.compile(r"\b(?:seconds?|secs?|s|minutes?|min)\b (?:and )?(?:then|before|only then|after that|afterwards)\b")
_THERE = re.compile(r"\b(?:there|here|it|that|him|her|them)\b")


def check_contraries(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError where words that let go of a thing are read as holding it, or a wait before something as one
    where it is."""
    text, formula = plain(constraint.words), constraint.formula
    held = any(parse_proposition(name).predicate == "holding" for name in formula.propositions)
    down = _PUT_DOWN.search(text)
    if down and held and not _PICK_UP.search(text) and merely_asks(formula):
        raise InputError(f"“{constraint.words}” says {down[0]!r}, but {formula} asks for it to be held")
    wait, then = _WAIT.search(text), _THEN.search(text)
    if wait and ((then and _is_due(formula)) or (_lasts(formula) and (then or _is_nowhere(text, constraint, scene)))):
        raise InputError(f"“{constraint.words}” says {wait[0]!r} of what comes first, but {formula} of what comes then")


def _is_nowhere(text: str, constraint: Constraint, scene: Scene) -> bool:
    """Whether the words leave open where to wait."""
    return not _THERE.search(text) and arguments_of(constraint).isdisjoint(names_in(text, scene))


def _lasts(f: Formula) -> bool:
    """Whether something is to hold for so long, at some time."""
    inner = f.operands[0] if f.operator == "F" else f
    return (f.operator == "F" and inner.operator == "G" and inner.window is not None) or any(map(_lasts, f.operands))


def _is_due(f: Formula) -> bool:
    """Whether something is to come about in so many seconds."""
    return (f.operator == "F" and f.window is not None) or any(map(_is_due, f.operands))
