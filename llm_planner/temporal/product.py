"""Several automata that read the same letters, walked together and only as far as asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from llm_planner.temporal.alphabet import Alphabet, Letter, Trace
from llm_planner.temporal.automaton import Automaton
from llm_planner.temporal.branches import Branch, Transition
from llm_planner.temporal.effort import Effort

States = tuple[int, ...]  # one of each automaton
_Names = tuple[str, ...]
_Question = tuple[tuple[Transition, ...], frozenset[int]]  # trees, and exclusive groups of which one holds already
_Key = TypeVar("_Key")


class Product:
    """`automata` side by side over one alphabet; the walk goes no further from states that `dead` names.

    Walking takes `effort`: InputError is raised where none is left.

    The whole alphabet is needed: what excludes what across the automata is in none of theirs.
    """

    def __init__(
        self,
        automata: Sequence[Automaton],
        alphabet: Alphabet,
        effort: Effort,
        dead: Callable[[States], bool] = lambda states: False,
    ) -> None:
        self.automata = tuple(automata)
        self.initial: States = tuple(one.initial for one in automata)
        self.dead = dead
        self._memberships = alphabet.memberships
        self._effort = effort

    def moves(self, states: States) -> dict[States, _Names]:
        """The states one letter later, each with the propositions of a smallest letter that leads there."""
        found: dict[States, _Names] = {}
        trees = tuple(one.transitions[state] for one, state in zip(self.automata, states, strict=True))
        waiting: dict[str, dict[_Question, _Names]] = {}  # by the proposition to be asked next
        self._arrive((trees, frozenset()), (), waiting, found)
        while waiting:
            name = min(waiting)
            for (trees, taken), letter in waiting.pop(name).items():
                lower = tuple([t.low if type(t) is Branch and t.proposition == name else t for t in trees])
                self._arrive((lower, taken), letter, waiting, found)
                if not (groups := self._memberships[name]) & taken:
                    higher = tuple([t.high if type(t) is Branch and t.proposition == name else t for t in trees])
                    self._arrive((higher, taken | groups), (*letter, name), waiting, found)
        return found

    def _arrive(
        self,
        question: _Question,
        letter: _Names,
        waiting: dict[str, dict[_Question, _Names]],
        found: dict[States, _Names],
    ) -> None:
        """Notes the smallest letter that leads to the same trees."""
        trees, _ = question
        self._effort.spend(1 + len(trees) // 16)
        asked = [tree.proposition for tree in trees if type(tree) is Branch]
        if asked:
            _keep(waiting.setdefault(min(asked), {}), question, letter)
        elif not self.dead(states := cast(States, trees)):  # leaves are states
            _keep(found, states, letter)


def _keep(letters: dict[_Key, _Names], key: _Key, letter: _Names) -> None:
    if key not in letters or len(letter) < len(letters[key]):
        letters[key] = letter


@dataclass
class _Layer:
    """The states that a walk of one length reaches first: true propositions so far, and where each came from."""

    cost: dict[States, int] = field(default_factory=dict)
    origin: dict[States, tuple[States, _Names]] = field(default_factory=dict)

    def offer(self, states: States, cost: int, origin: States, letter: _Names) -> None:
        if cost < self.cost.get(states, cost + 1):
            self.cost[states] = cost
            self.origin[states] = (origin, letter)


def shortest(product: Product, wanted: Callable[[States], bool]) -> Trace | None:
    """The shortest trace to wanted states, of these one with fewest true propositions; None where there is none."""
    layers = [_Layer({product.initial: 0})]
    seen: set[States] = set()  # a trace has at least one letter: the start may be met again
    while layers[-1].cost:
        layer = _Layer()
        for states, cost in layers[-1].cost.items():
            for after, letter in product.moves(states).items():
                if after not in seen:
                    layer.offer(after, cost + len(letter), states, letter)
        seen.update(layer.cost)
        layers.append(layer)
        if goals := [states for states in layer.cost if wanted(states)]:
            return _traced(layers, min(goals, key=lambda states: layer.cost[states]))
    return None


def _traced(layers: list[_Layer], states: States) -> Trace:
    letters: list[Letter] = []
    for layer in reversed(layers[1:]):
        states, letter = layer.origin[states]
        letters.append(frozenset(letter))
    return tuple(reversed(letters))
