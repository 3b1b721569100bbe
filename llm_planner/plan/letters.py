"""The propositions of a plan's constraints, and which sets of them, called letters, a scene can show."""

from __future__ import annotations

from collections.abc import Iterable

from llm_planner.temporal.alphabet import Alphabet
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import ANYTHING, ROBOT, Proposition, parse_proposition


def propositions_of(formulas: Iterable[Formula]) -> tuple[Proposition, ...]:
    """All of them, parsed, in alphabetical order; raises InputError for one that no scene can show."""
    return tuple(map(parse_proposition, sorted({name for formula in formulas for name in formula.propositions})))


def occurring(propositions: Iterable[Proposition]) -> Alphabet:
    """The letters that can occur: a robot is in one room, and holds one thing at most."""
    items = tuple(propositions)
    rooms = tuple(str(item) for item in items if item.predicate == "in" and item.arguments[0] == ROBOT)
    held = tuple(str(item) for item in items if item.predicate == "holding" and item.arguments != (ANYTHING,))
    return Alphabet(tuple(map(str, items)), tuple(group for group in (rooms, held) if len(group) > 1))
