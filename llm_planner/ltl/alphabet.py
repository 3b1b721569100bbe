"""Letters: the sets of propositions that hold together at one moment; and which of them can occur.

Decision trees over propositions that end in the next state. Equal trees are one object, so they share all parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from weakref import WeakValueDictionary

from llm_planner.errors import InputError
from llm_planner.ltl.formula import normal_name

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


@dataclass(frozen=True, eq=False)
class Branch:
    """Asks whether `proposition` holds; propositions come in alphabetical order. Make one with `branch`."""

    proposition: str
    low: Branch | int  # where it does not: another question, or the next state
    high: Branch | int  # where it does

    def __reduce__(self) -> tuple[object, ...]:  # a copy from another process is the same object as ours
        return branch, (self.proposition, self.low, self.high)


Transition = Branch | int

_known: WeakValueDictionary[tuple[str, Transition, Transition], Branch] = WeakValueDictionary()


def branch(proposition: str, low: Transition, high: Transition) -> Transition:
    """The question, or what comes after it where the answer does not matter."""
    if low == high:
        return low
    key = (proposition, low, high)
    found = _known.get(key)
    return found if found is not None else _known.setdefault(key, Branch(*key))


def parts(trees: Iterable[Transition]) -> Iterator[Transition]:
    """Every question in the trees and every state in which they end, each once."""
    waiting = list(trees)
    seen = set(waiting)
    while waiting:
        part = waiting.pop()
        yield part
        if type(part) is Branch:
            for after in (part.low, part.high):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)


def leaves(tree: Transition) -> frozenset[int]:
    """The states in which a tree ends."""
    return frozenset(part for part in parts([tree]) if not isinstance(part, Branch))


def mapped(
    tree: Transition, change: Callable[[Branch, Transition, Transition], Transition], done: dict[Transition, Transition]
) -> Transition:
    """Each question, the last first, replaced by what `change` makes of it and of what its answers have become.

    `done` says what states become, and remembers the rest.
    """
    if isinstance(tree, Branch) and tree not in done:
        done[tree] = change(tree, mapped(tree.low, change, done), mapped(tree.high, change, done))
    return done.get(tree, tree)


def renamed(tree: Transition, done: dict[Transition, Transition]) -> Transition:
    """The tree with other numbers in its leaves, which `done` gives, and no question that no longer matters."""
    return mapped(tree, lambda old, low, high: branch(old.proposition, low, high), done)


def given(trees: Sequence[Transition], name: str, value: bool) -> list[Transition]:
    """The trees after one proposition's value is known."""

    def answered(old: Branch, low: Transition, high: Transition) -> Transition:
        return branch(old.proposition, low, high) if old.proposition != name else high if value else low

    done: dict[Transition, Transition] = {}
    return [mapped(tree, answered, done) for tree in trees]


class Graph:
    """The trees of all states, to be walked against their direction."""

    def __init__(self, trees: Sequence[Transition]) -> None:
        self.trees = trees
        self._before: dict[Transition, list[Transition]] = {}
        self._roots: dict[Transition, list[int]] = {}
        for state, tree in enumerate(trees):
            self._roots.setdefault(tree, []).append(state)
        for part in parts(self._roots):
            if type(part) is Branch:
                self._before.setdefault(part.low, []).append(part)
                self._before.setdefault(part.high, []).append(part)

    @property
    def size(self) -> int:
        """Questions and states, about."""
        return len(self.trees) + len(self._before)

    def enters(self, state: int) -> bool:
        """Whether some letter leads to the state."""
        return state in self._before or state in self._roots

    def distances(self, targets: frozenset[int]) -> tuple[float, ...]:
        """How many letters each state is away from a target; infinite where none leads there."""
        found = dict.fromkeys(targets, 0.0)
        layer, asked, length = list(targets), set[Transition](), 0.0
        while layer:
            length += 1
            waiting: list[Transition] = list(layer)
            layer = []
            while waiting:
                part = waiting.pop()
                new = [state for state in self._roots.get(part, ()) if state not in found]
                found.update(dict.fromkeys(new, length))
                layer.extend(new)
                earlier = [question for question in self._before.get(part, ()) if question not in asked]
                asked.update(earlier)
                waiting.extend(earlier)
        return tuple(found.get(state, inf) for state in range(len(self.trees)))

    def reaching(self, targets: frozenset[int]) -> frozenset[int]:
        """The states from which some number of letters, or none, leads to a target."""
        return frozenset(state for state, length in enumerate(self.distances(targets)) if length < inf)
