"""Equivalence and conflicts of formulas in one scene.

Formulas are first rewritten in propositions that do not imply each other but may be mutually exclusive. For example
`holding(vase)` implies `holding(anything)` and `moved(vase)`, and a distance below 0.2 m is also below 0.3 m. Therefore
`holding(anything)` becomes a disjunction over held objects, `moved` a disjunction of held and put elsewhere, and a
measure a disjunction of bands between all bounds that occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.decision import equivalent, smallest_conflict
from llm_planner.ltl.formula import TRUE, Formula, atom, conj, disj, finally_, neg, rebuilt, substituted, until
from llm_planner.ltl.scene_letters import alphabet_of, as_measure
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.propositions import ANYTHING, Proposition, parse_proposition
from llm_planner.scene.scene import Scene


def ways_to_hold(scene: Scene) -> tuple[str, ...]:
    """Return the `holding` proposition of every object that can be held."""
    return tuple(f"holding({item.name})" for item in scene.objects if is_portable(item))


def in_general(formula: Formula, scene: Scene) -> Formula:
    """Replace a disjunction of `holding` over all portable objects of the scene by `holding(anything)`."""
    every = frozenset(map(atom, ways_to_hold(scene)))

    def shorter(part: Formula) -> Formula:
        if part.operator != "|" or len(every) < 2 or not every <= set(part.operands):
            return part
        return disj(atom(f"holding({ANYTHING})"), *(one for one in part.operands if one not in every))

    return substituted(formula, shorter)


SOMETHING_ELSE = "holding(something else)"
Measure = tuple[str, tuple[str, ...]]


def independent(formulas: Sequence[Formula], scene: Scene) -> tuple[list[Formula], tuple[tuple[str, ...], ...]]:
    """Rewrite formulas in independent propositions; a measure exactly at a bound is ignored.

    Returns:
        The formulas, and the groups of mutually exclusive propositions.
    """
    items: dict[str, Proposition] = {}
    for name in (name for f in formulas for name in f.propositions):
        with suppress(InputError):  # a bare name
            items[name] = as_measure(parse_proposition(name), scene)
    bands = _bands(items.values())
    telling = ("moved", "holding")  # predicates that tell what is held
    named = [one for one in items.values() if one.predicate in telling and one.arguments != (ANYTHING,)]
    held = list(dict.fromkeys(f"holding({item.arguments[0]})" for item in named))
    every = ways_to_hold(scene)
    choices = held if every and set(every) <= set(held) else [*held, SOMETHING_ELSE]

    def plain(part: Formula) -> Formula:
        item = items.get(part.name)
        if item is None:
            return part
        if item.comparison:
            below = disj(*(atom(name) for bound, name in bands[item.predicate, item.arguments] if bound <= item.bound))
            return below if item.comparison == "<" else neg(below)
        if item.predicate == "moved":
            return disj(part, atom(f"holding({item.arguments[0]})"))
        return disj(*map(atom, choices)) if item.arguments == (ANYTHING,) else part

    groups = [tuple(name for _, name in band) for band in bands.values()]
    groups.append(tuple(choices))
    return [substituted(f, plain) for f in formulas], tuple(groups)


def _bands(items: Iterable[Proposition]) -> dict[Measure, list[tuple[float, str]]]:
    """Return for each measure its bounds in rising order, each with the name of the band that ends there."""
    bounds: dict[Measure, set[float]] = {}
    for item in items:
        if item.comparison:
            bounds.setdefault((item.predicate, item.arguments), set()).add(item.bound)
    return {
        (predicate, arguments): [
            (bound, f"band({predicate}, {', '.join(arguments)}, {number})")
            for number, bound in enumerate(sorted(found))
        ]
        for (predicate, arguments), found in bounds.items()
    }


class Meanings:
    """Decision procedures over the letters that can occur in `scene`; over all letters for `bare` propositions."""

    def __init__(self, scene: Scene, bare: bool = False) -> None:
        self._scene, self._bare = scene, bare

    def same(self, f: Formula, g: Formula) -> bool:
        """Return whether two formulas are provably equivalent; False if they are too large to decide."""
        mine, other = (set(h.operands) if h.operator == "&" else {h} for h in (f, g))
        # shared conjuncts first: the formulas are equivalent if the remainders are
        return f is g or self._equal(conj(*(mine - other)), conj(*(other - mine))) or self._equal(f, g)

    def conflict(self, formulas: Sequence[Formula]) -> tuple[int, ...]:
        """Return the indices of a smallest set of conflicting formulas; () if all can hold together."""
        listed, alphabet = self._decidable([_weaker(f) for f in formulas])
        return smallest_conflict(listed, alphabet)

    def _equal(self, f: Formula, g: Formula) -> bool:
        (first, second), alphabet = self._decidable(_opaque(f, g))
        if first is second:
            return True
        try:
            return equivalent(first, second, alphabet)
        except InputError:
            return False

    def _decidable(self, formulas: Sequence[Formula]) -> tuple[list[Formula], Alphabet]:
        if self._bare:
            return list(formulas), Alphabet(tuple({name for f in formulas for name in f.propositions}))
        listed, groups = independent(formulas, self._scene)
        names = {name for f in listed for name in f.propositions}
        occurring = alphabet_of(names, self._scene)
        known = (tuple(name for name in group if name in names) for group in groups)
        return listed, Alphabet(occurring.propositions, (*occurring.exclusive, *(g for g in known if len(g) > 1)))


def _opaque(*formulas: Formula) -> list[Formula]:
    """Replace each part with a time window by a proposition, the same for equal parts."""
    numbers: dict[Formula, int] = {}

    def plain(part: Formula) -> Formula:
        return part if part.window is None else atom(f"timed_{numbers.setdefault(part, len(numbers))}")

    return [substituted(f, plain) for f in formulas]


def _weaker(f: Formula) -> Formula:
    """Weaken a formula to one without time windows, so that no satisfiable formula becomes unsatisfiable."""
    if not f.timed:
        return f
    if f.operator in ("!", "->", "<->"):
        return _opaque(f)[0]
    parts = [_weaker(g) for g in f.operands]
    if f.window is None:
        return rebuilt(f, parts)
    if f.operator == "G":
        return parts[0] if f.window[0] == 0 else TRUE
    return finally_(parts[0]) if f.operator == "F" else until(parts[0], parts[1])
