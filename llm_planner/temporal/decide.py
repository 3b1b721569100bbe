"""Questions about formulas over the letters that can occur: can it be met, how, and do two say the same.

Every question takes formulas, or their automata where many questions are asked about the same ones. InputError is
raised where one takes more work than MAX_STEPS of `effort`.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import combinations, count

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import Alphabet, Trace
from llm_planner.temporal.automaton import Automaton, automaton
from llm_planner.temporal.effort import MAX_STEPS, Effort
from llm_planner.temporal.formula import Formula, neg
from llm_planner.temporal.product import Product, States, shortest

MAX_EXHAUSTIVE = 8  # formulas, of which every subset may be tried

Compiled = Formula | Automaton


def satisfiable(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, steps: int = MAX_STEPS) -> bool:
    """Whether some trace satisfies it, or all of them."""
    return _satisfiable(formula, alphabet, Effort(steps))


def witness(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, steps: int = MAX_STEPS) -> Trace | None:
    """The shortest satisfying trace, of these one with fewest true propositions; None when unsatisfiable."""
    product = _product(formula, alphabet, Effort(steps))
    return shortest(product, lambda states: _accepts(product.automata, states))


def violation(formula: Formula, alphabet: Alphabet) -> Trace | None:
    """The shortest trace that violates it, of these one with fewest true propositions; None when nothing can."""
    return witness(neg(formula), alphabet)


def difference(f: Compiled, g: Compiled, alphabet: Alphabet) -> Trace | None:
    """A shortest trace that satisfies one of them and violates the other; None when they are equivalent."""
    effort = Effort()
    first, second = compiled(f, alphabet, effort), compiled(g, alphabet, effort)
    if first.transitions == second.transitions and first.accepting == second.accepting:
        return None
    product = Product((first, second), alphabet, effort, lambda s: _agree_for_ever(first, second, s))
    return shortest(product, lambda s: (s[0] in first.accepting) != (s[1] in second.accepting))


def equivalent(f: Compiled, g: Compiled, alphabet: Alphabet) -> bool:
    """Whether the same traces satisfy both."""
    return difference(f, g, alphabet) is None


def smallest_conflict(formulas: Sequence[Compiled], alphabet: Alphabet) -> tuple[int, ...]:
    """Indices of fewest formulas that no trace satisfies together; () when one satisfies them all.

    Of more than 8 formulas, a set of which every part can be satisfied, perhaps not the one with fewest.
    """
    effort = Effort()
    automata = [compiled(formula, alphabet, effort) for formula in formulas]
    everything = tuple(range(len(automata)))

    def conflict(indices: tuple[int, ...]) -> bool:
        return not _satisfiable([automata[k] for k in indices], alphabet, effort)

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
    """Its automaton; one that is given must be over the same alphabet, or InputError is raised."""
    if not isinstance(formula, Automaton):
        return automaton(formula, alphabet, effort)
    if formula.alphabet != alphabet.restricted(formula.alphabet.propositions):
        raise InputError(
            f"the automaton of {formula.formula} is over another alphabet; make it over the one asked about"
        )
    return formula


def _product(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, effort: Effort) -> Product:
    """The automata of all conjuncts, walked while each can still accept."""
    listed = [formula] if isinstance(formula, Formula | Automaton) else list(formula)
    conjuncts = [part for one in listed for part in _conjuncts(one)]
    automata = [compiled(part, alphabet, effort) for part in dict.fromkeys(conjuncts)]

    def dead(states: States) -> bool:
        return any(s not in one.live for one, s in zip(automata, states, strict=True))

    return Product(automata, alphabet, effort, dead)


def _conjuncts(formula: Compiled) -> tuple[Compiled, ...]:
    return formula.operands if isinstance(formula, Formula) and formula.operator == "&" else (formula,)


def _accepts(automata: Sequence[Automaton], states: States) -> bool:
    return all(state in one.accepting for one, state in zip(automata, states, strict=True))


def _agree_for_ever(first: Automaton, second: Automaton, states: States) -> bool:
    a, b = states
    return (a in first.won and b in second.won) or (a not in first.live and b not in second.live)


def _satisfiable(formula: Compiled | Sequence[Compiled], alphabet: Alphabet, effort: Effort) -> bool:
    return _reachable(_product(formula, alphabet, effort))


def _reachable(product: Product) -> bool:
    """Best first: towards states from which the automata, each alone, need fewest letters."""
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
