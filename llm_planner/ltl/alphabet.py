"""Letters (sets of propositions that hold together at one moment) and the decision trees over them.

An `Alphabet` defines which letters can occur. A transition is a decision tree over propositions whose leaves are the
next states. Equal trees are the same object, so trees share all parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from types import MappingProxyType
from weakref import WeakValueDictionary

from llm_planner.errors import InputError
from llm_planner.ltl.formula import normal_name

Letter = frozenset[str]
Trace = tuple[Letter, ...]  # not empty; in a run, one letter per change

MAX_LETTERS = 65_536


@dataclass(frozen=True)
class Alphabet:
    """All sets of `propositions` with at most one member of each `exclusive` group.

    A robot is in one room, so `in(robot, lab)` and `in(robot, hall)` form one group. Without groups every set can
    occur. Raises InputError for an invalid name, or one that is only in a group.
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
        """Indices of the exclusive groups of each proposition; two that share a group cannot hold together."""
        numbers: dict[str, set[int]] = {name: set() for name in self.propositions}
        for number, group in enumerate(self.exclusive):
            for name in group:
                numbers[name].add(number)
        return {name: frozenset(found) for name, found in numbers.items()}

    @property
    def letters(self) -> tuple[Letter, ...]:
        """All letters that can occur. Raises InputError if there are more than `MAX_LETTERS`."""
        found: list[Letter] = [frozenset()]
        for name in reversed(self.propositions):
            found += [more for letter in found if self.has(more := letter | {name})]
            if len(found) > MAX_LETTERS:
                raise InputError(
                    f"{len(self.propositions)} propositions give more than {MAX_LETTERS} letters; "
                    "say which exclude each other, or ask about fewer propositions"
                )
        return tuple(found)

    def restricted(self, names: Iterable[str]) -> Alphabet:
        """Return the alphabet projected to these propositions. Raises InputError for an unknown one."""
        kept = frozenset(names)
        if unknown := sorted(kept.difference(self.propositions)):
            known = ", ".join(self.propositions) or "none"
            raise InputError(f"the alphabet has no proposition {unknown[0]!r}; it has: {known}; add it to the alphabet")
        groups = (tuple(name for name in group if name in kept) for group in self.exclusive)
        return Alphabet(tuple(kept), tuple(dict.fromkeys(group for group in groups if len(group) > 1)))

    def check(self, letter: Letter) -> None:
        """Raise InputError for a letter that cannot occur."""
        for group in self._groups:
            if len(together := group & letter) > 1:
                raise InputError(f"{' and '.join(sorted(together))} cannot hold together; check what was observed")

    def has(self, letter: Letter) -> bool:
        """Return whether the letter can occur, that is, contains no two exclusive propositions."""
        return all(len(group & letter) <= 1 for group in self._groups)

    @cached_property
    def _groups(self) -> tuple[Letter, ...]:
        return tuple(frozenset(group) for group in self.exclusive)


@dataclass(frozen=True, eq=False)
class Branch:
    """Decision on whether `proposition` holds, in alphabetical order along a path. Create it with `branch`."""

    proposition: str
    low: Branch | int  # if it does not hold: another decision, or the next state
    high: Branch | int  # if it holds

    def __reduce__(self) -> tuple[object, ...]:  # unpickled trees are interned too
        return branch, (self.proposition, self.low, self.high)


Transition = Branch | int

_known: WeakValueDictionary[tuple[str, Transition, Transition], Branch] = WeakValueDictionary()


def branch(proposition: str, low: Transition, high: Transition) -> Transition:
    """Return the interned decision, or its child if both are equal."""
    if low == high:
        return low
    key = (proposition, low, high)
    found = _known.get(key)
    return found if found is not None else _known.setdefault(key, Branch(*key))


def parts(trees: Iterable[Transition]) -> Iterator[Transition]:
    """Yield every decision and every leaf of the trees once."""
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
    """Return the states in the leaves of a tree."""
    return frozenset(part for part in parts([tree]) if not isinstance(part, Branch))


def renamed(
    tree: Transition, done: dict[Transition, Transition], known: Mapping[str, bool] = MappingProxyType({})
) -> Transition:
    """Rebuild a tree without decisions that no longer matter.

    `done` maps leaves to their replacements and serves as a cache; `known` are propositions whose value is known.
    """
    if isinstance(tree, Branch) and tree not in done:
        name = tree.proposition
        if name in known:
            done[tree] = renamed(tree.high if known[name] else tree.low, done, known)
        else:
            done[tree] = branch(name, renamed(tree.low, done, known), renamed(tree.high, done, known))
    return done.get(tree, tree)


def given(trees: Sequence[Transition], name: str, value: bool) -> list[Transition]:
    """Return the trees specialised to a known value of one proposition."""
    done: dict[Transition, Transition] = {}
    return [renamed(tree, done, {name: value}) for tree in trees]


class Graph:
    """Reverse graph over the trees of all states."""

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
        """Approximate number of decisions and states."""
        return len(self.trees) + len(self._before)

    def enters(self, state: int) -> bool:
        """Return whether any letter leads to the state."""
        return state in self._before or state in self._roots

    def distances(self, targets: frozenset[int]) -> tuple[float, ...]:
        """Return the number of letters from each state to the nearest target; infinite if it cannot be reached."""
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
        """Return the states from which zero or more letters lead to a target."""
        return frozenset(state for state, length in enumerate(self.distances(targets)) if length < inf)
