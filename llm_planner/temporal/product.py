"""Several automata that read the same letters, walked together and only as far as asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import MAX_LETTERS, Alphabet, Letter, Trace
from llm_planner.temporal.automaton import Automaton, Branch, Transition

MAX_PRODUCT_STATES = 50_000

States = tuple[int, ...]  # one of each automaton
_Names = tuple[str, ...]


class Product:
    """`automata` side by side over one alphabet; the walk goes no further from states that `dead` names.

    The whole alphabet is needed: what excludes what across the automata is in none of theirs.
    """

    def __init__(
        self, automata: Sequence[Automaton], alphabet: Alphabet, dead: Callable[[States], bool] = lambda states: False
    ) -> None:
        self.automata = tuple(automata)
        self.initial: States = tuple(one.initial for one in automata)
        self.dead = dead
        self._rivals = alphabet.rivals

    def moves(self, states: States) -> dict[States, _Names]:
        """The states one letter later, each with the propositions of a smallest letter that leads there.

        Raises InputError where too many letters would have to be tried.
        """
        found: dict[States, _Names] = {}
        trees = tuple(one.transitions[state] for one, state in zip(self.automata, states, strict=True))
        waiting: list[tuple[tuple[Transition, ...], _Names, Letter]] = [(trees, (), frozenset())]
        tried = 0
        while waiting:
            trees, letter, excluded = waiting.pop()
            asked = [tree.proposition for tree in trees if type(tree) is Branch]
            if not asked:
                tried = self._note(found, trees, letter, tried)  # type: ignore[arg-type] # leaves are states
                continue
            name = min(asked)
            if name not in excluded:
                higher = tuple(t.high if type(t) is Branch and t.proposition == name else t for t in trees)
                waiting.append((higher, (*letter, name), excluded | self._rivals[name]))
            lower = tuple(t.low if type(t) is Branch and t.proposition == name else t for t in trees)
            waiting.append((lower, letter, excluded))
        return found

    def _note(self, found: dict[States, _Names], states: States, letter: _Names, tried: int) -> int:
        if tried > MAX_LETTERS:
            raise InputError(
                f"more than {MAX_LETTERS} letters would have to be tried; say which propositions exclude each other, "
                "or ask about fewer formulas at once"
            )
        if not self.dead(states) and (states not in found or len(letter) < len(found[states])):
            found[states] = letter
        return tried + 1


@dataclass
class _Layer:
    """The states that a walk of one length reaches first: true propositions so far, and where each came from."""

    cost: dict[States, int] = field(default_factory=dict)
    origin: dict[States, tuple[States, _Names]] = field(default_factory=dict)

    def offer(self, states: States, cost: int, origin: States, letter: _Names) -> None:
        if cost < self.cost.get(states, cost + 1):
            self.cost[states] = cost
            self.origin[states] = (origin, letter)


def shortest(product: Product, wanted: Callable[[States], bool], limit: int = MAX_PRODUCT_STATES) -> Trace | None:
    """The shortest trace to wanted states, of these one with fewest true propositions; None where there is none.

    Raises InputError where more states than `limit` would have to be tried.
    """
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
        check_size(len(seen), limit)
    return None


def check_size(states: int, limit: int) -> None:
    """Raises InputError for more states than `limit`."""
    if states > limit:
        raise InputError(f"more than {limit} states would have to be tried; ask about fewer formulas at once")


def _traced(layers: list[_Layer], states: States) -> Trace:
    letters: list[Letter] = []
    for layer in reversed(layers[1:]):
        states, letter = layer.origin[states]
        letters.append(frozenset(letter))
    return tuple(reversed(letters))
