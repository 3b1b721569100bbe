"""What constraints see of a moment: its letter, which is the set of their propositions that hold then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llm_planner.temporal.alphabet import Alphabet, Letter
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import ANYTHING, ROBOT, Moment, Proposition, holds, parse_proposition


@dataclass(frozen=True)
class Reader:
    """Reads letters; `items` are the propositions, as formulas spell them and parsed."""

    items: tuple[tuple[str, Proposition], ...]

    def letter(self, moment: Moment) -> Letter:
        """The propositions that hold now."""
        return frozenset(name for name, item in self.items if holds(item, moment))


def reader(formulas: Iterable[Formula]) -> Reader:
    """Of all propositions of the formulas; raises InputError for one that no scene can show."""
    names = sorted({name for formula in formulas for name in formula.propositions})
    return Reader(tuple((name, parse_proposition(name)) for name in names))


def occurring(propositions: Iterable[str]) -> Alphabet:
    """The letters that can occur: a robot is in one room, and holds one thing at most. Raises InputError as `reader`."""
    names = tuple(propositions)
    groups: dict[str, list[str]] = {}
    for name in names:
        item = parse_proposition(name)
        match (item.predicate, item.arguments):
            case ("in", (what, _)) if what == ROBOT:
                groups.setdefault("place", []).append(name)
            case ("holding", (what,)) if what != ANYTHING:
                groups.setdefault("hand", []).append(name)
    return Alphabet(names, tuple(tuple(group) for group in groups.values() if len(group) > 1))
