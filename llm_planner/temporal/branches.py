"""Decision trees over propositions that end in the next state. Equal trees are one object, so they share all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from weakref import WeakValueDictionary


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
