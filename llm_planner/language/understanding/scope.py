"""Of how many things a reading speaks, held against words that say it: "nothing but the mug", "it"."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.mentions import arguments_of, names_in
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

_ALL_BUT = re.compile(
    r"\b(?:nothing|no (?:other )?(?:thing|object)s?) (?:but|except|besides|other than|apart from)\b (.*)"
)
_NOTHING = re.compile(r"\bnothing\b")
_ONE = re.compile(r"\b(?:it|that one|this one)\b")
_SEVERAL = re.compile(
    r"\b(?:any|all|both|each|every|either|neither|no|none|two|three|four|them|they|these|those|others?|else|rest"
    r"|(?:any|every|no)thing|(?!this\b|does\b|was\b|has\b|its\b)\w{2,}s)\b"
)


def check_scope(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError for "nothing but X" that forbids only X, for "nothing" that is read as one thing that nobody
    named, and for "it" that is read as several things."""
    text = plain(constraint.words)
    things = arguments_of(constraint) & set(scene.names)
    spared = _ALL_BUT.search(text)
    if spared and things and things <= set(names_in(spared[1], scene)):
        raise InputError(f"“{constraint.words}” spares what {constraint.formula} forbids")
    denied = _denied(constraint.formula) & set(scene.names)
    unspoken = set(scene.names) - arguments_of(constraint)
    if _NOTHING.search(text) and len(denied) == 1 and unspoken and denied.isdisjoint(names_in(text, scene)):
        raise InputError(f"“{constraint.words}” speaks of all things, but {constraint.formula} of one")
    if _ONE.search(text) and len(things) > 1 and not _SEVERAL.search(text) and things.isdisjoint(names_in(text, scene)):
        raise InputError(f"“{constraint.words}” speaks of one thing, but {constraint.formula} of several")


def _denied(f: Formula) -> frozenset[str]:
    """What the propositions behind a "not" are about."""
    if f.operator == "!":
        return frozenset(parse_proposition(name).arguments[0] for name in f.propositions)
    return frozenset[str]().union(*map(_denied, f.operands))
