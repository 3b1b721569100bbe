"""Decision procedures over the letters that can occur: satisfiability, witnesses, equivalence and conflicts.

Each function takes formulas, or automata to reuse when there are many questions about the same formulas. Products of
automata are explored on the fly. Functions raise InputError if the work exceeds the budget of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import combinations, count
from typing import TypeVar, cast

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet, Branch, Trace, Transition
from llm_planner.ltl.automaton import Automaton, automaton
from llm_planner.ltl.formula import Formula, neg
from llm_planner.ltl.progression import Effort

States = tuple[int, ...]  # one per automaton
_Names = tuple[str, ...]
_Question = tuple[tuple[Transition, ...], frozenset[int]]  # trees, and exclusive groups that are taken
_Key = TypeVar("_Key")


class Product:
    """Product of `automata` over one alphabet, explored on demand up to states for which `dead` returns true.

    Needs the whole alphabet, since exclusions between propositions of different automata are in none of theirs. Spends
    `effort`, and raises InputError if it is exhausted.
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
        """Return the successor states, each with the propositions of a smallest letter that leads there."""
        found: dict[States, _Names] = {}
        trees = tuple(one.transitions[state] for one, state in zip(self.automata, states, strict=True))
        waiting: dict[str, dict[_Question, _Names]] = {}  # by the proposition to decide next
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
        """Record the smallest letter that leads to these trees."""
        trees, _ = question
        self._effort.spend(1 + len(trees) // 16)
        asked = [tree.proposition for tree in trees if type(tree) is Branch]
        if asked:
            _keep(waiting.setdefault(min(asked), {}), question, letter)
        elif not self.dead(states := cast(States, trees)):  # all trees are leaves, which are states
            _keep(found, states, letter)


def _keep(letters: dict[_Key, _Names], key: _Key, letter: _Names) -> None:
    if key not in letters or len(letter) < len(letters[key]):
        letters[key] = letter


def shortest(product: Product, wanted: Callable[[States], bool]) -> Trace | None:
    """Return a shortest trace to wanted states with the fewest true propositions; None if there is none."""
    layer: dict[States, tuple[int, Trace]] = {product.initial: (0, ())}  # true propositions so far, and letters
    seen: set[States] = set()  # without the start, since a trace has at least one letter
    while layer:
        reached: dict[States, tuple[int, Trace]] = {}
        for states, (cost, trace) in layer.items():
            for after, letter in product.moves(states).items():
                more = cost + len(letter)
                if after not in seen and (after not in reached or more < reached[after][0]):
                    reached[after] = more, (*trace, frozenset(letter))
        seen.update(reached)
        layer = reached
        if goals := [found for states, found in layer.items() if wanted(states)]:
            return min(goals, key=lambda found: found[0])[1]
    return None


MAX_EXHAUSTIVE = 8  # formulas; with more, not every subset is tried

Compiled = Formula | Automaton


def satisfiable(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, effort: Effort | None = None) -> bool:
    """Return whether some trace satisfies the formula, or all of the formulas; spends a fresh effort by default."""
    return _reachable(_product(formula, alphabet, effort or Effort()))


def witness(formula: Compiled | Sequence[Compiled], alphabet: Alphabet) -> Trace | None:
    """Return a shortest satisfying trace with the fewest true propositions; None if it is unsatisfiable."""
    product = _product(formula, alphabet, Effort())
    return shortest(product, lambda states: _accepts(product.automata, states))


def violation(formula: Formula, alphabet: Alphabet) -> Trace | None:
    """Return a shortest violating trace with the fewest true propositions; None if there is none."""
    return witness(neg(formula), alphabet)


def difference(f: Compiled, g: Compiled, alphabet: Alphabet) -> Trace | None:
    """Return a shortest trace that satisfies one formula and violates the other; None if they are equivalent."""
    effort = Effort()
    first, second = compiled(f, alphabet, effort), compiled(g, alphabet, effort)
    if first.transitions == second.transitions and first.accepting == second.accepting:
        return None

    def agree_for_ever(states: States) -> bool:
        a, b = states
        return (a in first.won and b in second.won) or (a not in first.live and b not in second.live)

    product = Product((first, second), alphabet, effort, agree_for_ever)
    return shortest(product, lambda s: (s[0] in first.accepting) != (s[1] in second.accepting))


def equivalent(f: Compiled, g: Compiled, alphabet: Alphabet) -> bool:
    """Return whether the same traces satisfy both."""
    return difference(f, g, alphabet) is None


def smallest_conflict(formulas: Sequence[Compiled], alphabet: Alphabet) -> tuple[int, ...]:
    """Return the indices of the fewest formulas that no trace satisfies together; () if one satisfies them all.

    With more than `MAX_EXHAUSTIVE` formulas the result is a minimal conflict (without any formula it is satisfiable),
    but perhaps not a smallest one.
    """
    effort = Effort()
    automata = [compiled(formula, alphabet, effort) for formula in formulas]
    everything = tuple(range(len(automata)))

    def conflict(indices: tuple[int, ...]) -> bool:
        return not satisfiable([automata[k] for k in indices], alphabet, effort)

    if not everything or not conflict(everything):
        return ()
    if len(everything) > MAX_EXHAUSTIVE:
        for k in tuple(everything):
            rest = tuple(index for index in everything if index != k)
            everything = rest if conflict(rest) else everything
        return everything
    sizes = range(1, len(everything) + 1)
    return next(chosen for size in sizes for chosen in combinations(everything, size) if conflict(chosen))


def compiled(formula: Compiled, alphabet: Alphabet, effort: Effort) -> Automaton:
    """Return the automaton of a formula, or check a given one. Raises InputError if its alphabet is another one."""
    if not isinstance(formula, Automaton):
        return automaton(formula, alphabet, effort)
    if formula.alphabet != alphabet.restricted(formula.alphabet.propositions):
        raise InputError(
            f"the automaton of {formula.formula} is over another alphabet; make it over the one asked about"
        )
    return formula


def _product(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, effort: Effort) -> Product:
    """Return the product of the automata of all conjuncts, explored while each can still accept."""
    listed = [formula] if isinstance(formula, Formula | Automaton) else list(formula)
    conjuncts: list[Compiled] = []
    for one in listed:
        conjuncts += one.operands if isinstance(one, Formula) and one.operator == "&" else (one,)
    automata = [compiled(part, alphabet, effort) for part in dict.fromkeys(conjuncts)]

    def dead(states: States) -> bool:
        return any(s not in one.live for one, s in zip(automata, states, strict=True))

    return Product(automata, alphabet, effort, dead)


def _accepts(automata: Sequence[Automaton], states: States) -> bool:
    return all(state in one.accepting for one, state in zip(automata, states, strict=True))


def _reachable(product: Product) -> bool:
    """Search for accepting states, best first by the sum of the automata's own distances to acceptance."""
    if any(one.initial not in one.live for one in product.automata):
        return False
    if len(product.automata) < 2:
        return True
    ticket = count()
    waiting: list[tuple[float, int, States]] = [(0.0, next(ticket), product.initial)]
    seen: set[States] = set()
    while waiting:
        for states in product.moves(heappop(waiting)[2]):
            if _accepts(product.automata, states):
                return True
            if states not in seen:
                seen.add(states)
                distance = sum(one.distances[s] for one, s in zip(product.automata, states, strict=True))
                heappush(waiting, (distance, next(ticket), states))
    return False
