"""Words that say where the robot is to be in the end need a formula that speaks of the end, not of some time."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import ROBOT, parse_proposition

_END = re.compile(r"\b(?:(?:in|at) the (?:very )?end|end up|last stop|final stop)\b")


def check_ending(constraint: Constraint) -> None:
    """Raises InputError when a goal's words speak of the end and its formula is content with a passing visit."""
    said = _END.search(plain(constraint.words))
    about = {parse_proposition(name).arguments[0] for name in constraint.formula.propositions}
    if said and constraint.goal and about == {ROBOT} and not _speaks_of_the_end(constraint.formula):
        raise InputError(f"“{constraint.words}” says '{said[0]}', but {constraint.formula} holds of some time only")


def _speaks_of_the_end(f: Formula) -> bool:
    """Whether something is to hold eventually for good."""
    return (f.operator == "F" and f.operands[0].operator == "G") or any(map(_speaks_of_the_end, f.operands))
