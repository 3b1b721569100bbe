"""Letters: the sets of propositions that hold together at one moment; and which of them can occur."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from llm_planner.errors import InputError
from llm_planner.temporal.names import normal_name

Letter = frozenset[str]
Trace = tuple[Letter, ...]  # never empty; in a run, one letter at each change

MAX_LETTERS = 65_536


@dataclass(frozen=True)
class Alphabet:
    """All sets of `propositions` in which at most one of each `exclusive` group holds.

    A robot is in one room: the propositions `in(robot, lab)` and `in(robot, hall)` are one group. Without groups every
    set can occur. Raises InputError for a name that is none, or is only in a group.
    """

    propositions: tuple[str, ...]
    exclusive: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "propositions", tuple(sorted({normal_name(name) for name in self.propositions})))
        groups = tuple(tuple(sorted({normal_name(name) for name in group})) for group in self.exclusive)
        object.__setattr__(self, "exclusive", groups)
        listed = frozenset(self.propositions)
        for name in (name for group in groups for name in group):
            if name not in listed:
                known = ", ".join(self.propositions) or "none"
                raise InputError(f"the exclusive {name!r} is not among the propositions: {known}; add it to them")

    @cached_property
    def memberships(self) -> dict[str, frozenset[int]]:
        """For each proposition the numbers of its exclusive groups: two that share one cannot hold together."""
        numbers: dict[str, set[int]] = {name: set() for name in self.propositions}
        for number, group in enumerate(self.exclusive):
            for name in group:
                numbers[name].add(number)
        return {name: frozenset(found) for name, found in numbers.items()}

    @property
    def letters(self) -> tuple[Letter, ...]:
        """Every letter that can occur; raises InputError where there are more than 65 536."""
        found = []
        for letter in self._extensions(0, (), frozenset()):
            found.append(frozenset(letter))
            if len(found) > MAX_LETTERS:
                raise InputError(
                    f"{len(self.propositions)} propositions give more than {MAX_LETTERS} letters; "
                    "say which exclude each other, or ask about fewer propositions"
                )
        return tuple(found)

    def _extensions(self, index: int, chosen: tuple[str, ...], taken: frozenset[int]) -> Iterator[tuple[str, ...]]:
        if index == len(self.propositions):
            yield chosen
            return
        yield from self._extensions(index + 1, chosen, taken)
        name = self.propositions[index]
        if self.memberships[name].isdisjoint(taken):
            yield from self._extensions(index + 1, (*chosen, name), taken | self.memberships[name])

    def restricted(self, names: Iterable[str]) -> Alphabet:
        """What can be seen of it through these propositions alone; raises InputError for one that is not in it."""
        kept = frozenset(names)
        if unknown := sorted(kept.difference(self.propositions)):
            known = ", ".join(self.propositions) or "none"
            raise InputError(f"the alphabet has no proposition {unknown[0]!r}; it has: {known}; add it to the alphabet")
        groups = (tuple(name for name in group if name in kept) for group in self.exclusive)
        return Alphabet(tuple(kept), tuple(dict.fromkeys(group for group in groups if len(group) > 1)))

    def check(self, letter: Letter) -> None:
        """Raises InputError for a letter that cannot occur."""
        for group in self._groups:
            if len(together := group & letter) > 1:
                raise InputError(f"{' and '.join(sorted(together))} cannot hold together; check what was observed")

    def has(self, letter: Letter) -> bool:
        """Whether the letter can occur: no two of it exclude each other."""
        return all(len(group & letter) <= 1 for group in self._groups)

    @cached_property
    def _groups(self) -> tuple[Letter, ...]:
        return tuple(frozenset(group) for group in self.exclusive)
