"""Words that forbid something need a formula that does."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula

FORBIDDING = re.compile(
    r"\b(?:never|dont|cannot|cant|mustnt|shouldnt|avoid|avoiding|without|forbidden|prohibited|off limits|taboo"
    r"|(?:do|does|must|may|should|shall|can|to) not|(?:stay|stays|keep|keeps|steer) (?:well )?(?:out|away|clear|off)"
    r"|hands off|alone|nothing|nobody|no one|none|neither)\b"
)
TWICE_NEGATED = re.compile(  # "do not forget to", "never stop before", "not less than once", "I do not mind"
    r"\b(?:stop|fail|forget|miss|skip|skipping|finish|rest|end|quit|leave(?!.* alone)|exit|matter|less|fewer"
    r"|care|mind|worry|hesitate|delay|need|have to)\b"
)
MERELY_ASKING = frozenset(("", "F", "X", "U", "W", "R", "M", "&", "|"))


def check_negation(constraint: Constraint) -> None:
    """Raises InputError when the words forbid something and the formula only asks for what is to be.

    Overlooking "not" is what language models do most often, and what does most harm.
    """
    said = plain(constraint.words)
    forbidding = FORBIDDING.search(said)
    if forbidding and not TWICE_NEGATED.search(said) and merely_asks(constraint.formula):
        raise InputError(f"“{constraint.words}” says {forbidding[0]!r}, but {constraint.formula} forbids nothing")


def merely_asks(formula: Formula) -> bool:
    """Whether it only says what is to come about."""
    if formula.operator in ("U", "W") and _is_limit(formula.operands[0]):
        return False
    return formula.operator in MERELY_ASKING and all(map(merely_asks, formula.operands))


def _is_limit(formula: Formula) -> bool:
    """Whether all of it bounds a speed, a distance or a height, which is to forbid what is beyond."""
    if formula.operator == "&":
        return all(map(_is_limit, formula.operands))
    return not {"<", ">"}.isdisjoint(formula.name)
