"""Formulas in propositions of which none implies another, so that excluding some together is all there is to know.

`holding(vase)` implies `holding(anything)` and `moved(vase)`, and a distance below 0.2 m is below 0.3 m too. The first
becomes a choice of things held, `moved` one between held and put elsewhere, a measure a choice of bands between all
bounds that are mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llm_planner.errors import InputError
from llm_planner.language.understanding.anything import ways_to_hold
from llm_planner.temporal.formula import Formula, atom, disj, neg
from llm_planner.temporal.substitution import substituted
from llm_planner.world.occurring import as_measure
from llm_planner.world.propositions import ANYTHING, Proposition, parse_proposition
from llm_planner.world.scene import Scene

SOMETHING_ELSE = "holding(something else)"
Measure = tuple[str, tuple[str, ...]]


def independent(formulas: Sequence[Formula], scene: Scene) -> tuple[list[Formula], tuple[tuple[str, ...], ...]]:
    """The formulas in such propositions, and the new groups of which at most one can hold.

    Whether a measure is exactly at a bound makes no difference.
    """
    items = {name: item for f in formulas for name in f.propositions if (item := _item(name, scene))}
    bands = _bands(items.values())
    held = list(dict.fromkeys(f"holding({item.arguments[0]})" for item in items.values() if _tells_what_is_held(item)))
    every = ways_to_hold(scene)
    choices = held if every and set(every) <= set(held) else [*held, SOMETHING_ELSE]

    def plain(part: Formula) -> Formula:
        item = items.get(part.name)
        if item is None:
            return part
        if item.comparison:
            below = disj(*(atom(name) for bound, name in bands[_measure(item)] if bound <= item.bound))
            return below if item.comparison == "<" else neg(below)
        if item.predicate == "moved":
            return disj(part, atom(f"holding({item.arguments[0]})"))
        return disj(*map(atom, choices)) if item.arguments == (ANYTHING,) else part

    groups = [tuple(name for _, name in band) for band in bands.values()]
    groups.append(tuple(choices))
    return [substituted(f, plain) for f in formulas], tuple(groups)


def _item(name: str, scene: Scene) -> Proposition | None:
    """What a proposition says, None for a bare name."""
    try:
        return as_measure(parse_proposition(name), scene)
    except InputError:
        return None


def _tells_what_is_held(item: Proposition) -> bool:
    return item.predicate == "moved" or (item.predicate == "holding" and item.arguments != (ANYTHING,))


def _measure(item: Proposition) -> Measure:
    return item.predicate, item.arguments


def _bands(items: Iterable[Proposition]) -> dict[Measure, list[tuple[float, str]]]:
    """For each measure its bounds in rising order, each with the name of the band that ends there."""
    bounds: dict[Measure, set[float]] = {}
    for item in items:
        if item.comparison:
            bounds.setdefault(_measure(item), set()).add(item.bound)
    return {
        (predicate, arguments): [
            (bound, f"band({predicate}, {', '.join(arguments)}, {number})")
            for number, bound in enumerate(sorted(found))
        ]
        for (predicate, arguments), found in bounds.items()
    }
