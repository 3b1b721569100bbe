"""What a reading claims to stand for, held against its formulas: no thing named and no condition may get lost."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import words_of
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

EXCEPTION = re.compile(r"\b(?:except|but|besides|other than|apart from|excluding)\b.*")
FORBIDDING = re.compile(
    r"\b(?:never|dont|cannot|cant|mustnt|shouldnt|avoid|avoiding|without|forbidden|prohibited|off limits"
    r"|(?:do|does|must|may|should|shall|can|to) not)\b"
)
TWICE_NEGATED = re.compile(  # "do not forget to", "never stop before", "not less than once"
    r"\b(?:stop|fail|forget|miss|skip|skipping|finish|rest|end|quit|leave|exit|matter|less|fewer"
    r"|care|mind|worry|hesitate|delay|need|have to)\b"
)
MERELY_ASKING = frozenset(("", "F", "X", "&", "|"))
CONDITIONS = frozenset(("never", "dont", "mustnt", "until", "unless", "whenever", "always", "avoid", "within"))


def check_names(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError when the words name a thing or a room that the formula says nothing of.

    What is named after "except" and the like may be left out: "every room except the lab" lists the others.
    """
    said = {name for item in constraint.formula.propositions for name in parse_proposition(item).arguments}
    text = EXCEPTION.sub("", " ".join(words_of(constraint.words)))
    for name in _named(text, scene):
        if name not in said:
            raise InputError(f"“{constraint.words}” speaks of {name!r}, but {constraint.formula} does not")


def _named(text: str, scene: Scene) -> list[str]:
    """Things and rooms whose full names are in the text; a name within a longer one is not meant."""
    rooms = scene.building.names if scene.building else ()
    found = []
    for name in sorted((*scene.names, *rooms), key=len, reverse=True):
        pattern = rf"\b{re.escape(' '.join(words_of(name)))}\b"
        if re.search(pattern, text):
            found.append(name)
            text = re.sub(pattern, "", text)
    return found


def check_conditions(task: str, constraints: tuple[Constraint, ...]) -> None:
    """Raises InputError when the task has a word that sets a condition and no constraint stands for it."""
    covered = {word for constraint in constraints for word in words_of(constraint.words)}
    lost = [word for word in words_of(task) if word in CONDITIONS and word not in covered]
    if lost:
        raise InputError(f"the task “{task}” has a condition ({lost[0]!r}) that is in no constraint; make it one")


def check_negation(constraint: Constraint) -> None:
    """Raises InputError when the words forbid something and the formula only asks for things to come.

    Overlooking "not" is what language models do most often, and what does most harm.
    """
    said = " ".join(words_of(constraint.words))
    forbidding = FORBIDDING.search(said)
    if forbidding and not TWICE_NEGATED.search(said) and _merely_asks(constraint.formula):
        raise InputError(f"“{constraint.words}” says {forbidding[0]!r}, but {constraint.formula} forbids nothing")


def _merely_asks(formula: Formula) -> bool:
    return formula.operator in MERELY_ASKING and all(map(_merely_asks, formula.operands))
