"""Temporal logic: automata and pairwise equivalence of the formulas that people's words in Lang2LTL mean, and monitors.

CPU times of one thread. Where Spot is installed (PyPI: spottl) it answers the same questions in the same run, and the
ratio of the times is reported.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from reports import print_report, report_parser, spread

from llm_planner.ltl import verbalization
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.decision import equivalent
from llm_planner.ltl.formula import UNARY, Formula, atom, conj, finally_, globally, iff, implies, neg, next_, until
from llm_planner.ltl.monitor import Monitor
from llm_planner.ltl.parser import parse

NAMES = ("a", "b", "c", "d", "h")
FREE = Alphabet(NAMES)
ONE_PLACE = Alphabet(NAMES, (NAMES,))
MONITORED = (
    "G !a", "!a W b", "G (a -> F b)", "F (a & F (b & F c))", "F[0,10] a", "G F[0,10] a", "G (a -> F[0,5] b)",
    "G (a -> G[0,3] !b)",
)  # fmt: skip
PERIOD = 0.05  # [s] between updates of the scene


def patterns() -> Iterator[Formula]:
    """The 47 formulas of Lang2LTL's data (arXiv 2302.11649), built from the patterns that they follow."""
    atoms = [atom(name) for name in NAMES]
    a, b = atoms[:2]
    for count in range(1, 6):
        visited = atoms[:count]
        yield conj(*(finally_(f) for f in visited))
        yield conj(*(globally(finally_(f)) for f in visited))
        yield conj(*(globally(neg(f)) for f in visited))
        yield verbalization.at_most(count, a)
        yield verbalization.exactly(count, a)
        if count > 1:
            yield verbalization.at_least(count, a)
            yield _sequence(visited)
            yield _ordered(visited)
            yield conj(_ordered(visited), *(_once_before(f, g) for f, g in pairwise(visited)))
    yield from (until(neg(a), b), until(a, b), globally(implies(a, finally_(b))), globally(implies(a, next_(b))))
    yield from (globally(iff(a, next_(b))), globally(implies(a, next_(globally(neg(b))))))


def _sequence(visited: Sequence[Formula]) -> Formula:
    found = finally_(visited[-1])
    for f in reversed(visited[:-1]):
        found = finally_(conj(f, found))
    return found


def _ordered(visited: Sequence[Formula]) -> Formula:
    before = (until(neg(g), f) for f, g in pairwise(visited))
    return conj(finally_(visited[-1]), *before)


def _once_before(f: Formula, g: Formula) -> Formula:
    return until(neg(f), until(f, until(neg(f), g)))


def milliseconds(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return 1e3 * (time.thread_time() - begin)


def measure_equivalence(formulas: Sequence[Formula], alphabet: Alphabet, pairs: int) -> dict[str, Any]:
    """CPU times [ms] of automata, of pairs whose automata are known, and of pairs from the formulas alone."""
    building = [milliseconds(partial(automaton, f, alphabet)) for f in formulas]
    known = [automaton(f, alphabet) for f in formulas]
    chosen = list(combinations(range(len(formulas)), 2))[:pairs]
    warm = [milliseconds(partial(equivalent, known[i], known[j], alphabet)) for i, j in chosen]
    cold = [milliseconds(partial(equivalent, formulas[i], formulas[j], alphabet)) for i, j in chosen]
    return {"automaton_ms": spread(building), "pair_ms": spread(warm), "cold_pair_ms": spread(cold)}


def measure_monitors(updates: int, seed: int) -> dict[str, dict[str, float]]:
    """CPU times [µs] of updates that change a letter now and then, 20 times a second."""
    return {text: spread(list(_update_times(parse(text), updates, seed))) for text in MONITORED}


def _update_times(formula: Formula, updates: int, seed: int) -> Iterator[float]:
    rng, monitor, letter = random.Random(seed), Monitor(formula), frozenset[str]()
    for k in range(updates):
        if k % 20 == 0:
            letter = frozenset(name for name in formula.propositions if rng.random() < 0.3)
        if monitor.verdict.lost:
            monitor = Monitor(formula)
        yield 1e3 * milliseconds(partial(monitor.observe, letter, PERIOD * k))


def measure_spot(formulas: Sequence[Formula], pairs: int) -> dict[str, Any]:
    """Spot on the same pairs over all letters, from parsed formulas; its answers must be ours."""
    import spot

    endless = {f: spot.from_ltlf(spot.formula(_spot_text(f)), "alive") for f in formulas}
    translated = {f: spot.translate(endless[f], "deterministic", "complete") for f in formulas}
    known = {f: automaton(f, FREE) for f in formulas}
    times: dict[str, list[float]] = {name: [] for name in ("spot_cold", "ours_cold", "spot_known", "ours_known")}
    for f, g in list(combinations(formulas, 2))[:pairs]:
        times["spot_cold"].append(milliseconds(partial(spot.are_equivalent, endless[f], endless[g])))
        times["ours_cold"].append(milliseconds(partial(equivalent, f, g, FREE)))
        times["spot_known"].append(milliseconds(partial(spot.are_equivalent, translated[f], translated[g])))
        times["ours_known"].append(milliseconds(partial(equivalent, known[f], known[g], FREE)))
        if spot.are_equivalent(endless[f], endless[g]) != equivalent(f, g, FREE):
            raise SystemExit(f"Spot and we disagree about {f} and {g}")
    cold, warm = (np.sum(times[f"ours_{kind}"]) / np.sum(times[f"spot_{kind}"]) for kind in ("cold", "known"))
    shown = {f"{name}_pair_ms": spread(values) for name, values in times.items()}
    return {**shown, "ratio": round(float(cold), 4), "ratio, automata known": round(float(warm), 4)}


def _spot_text(f: Formula) -> str:
    if not f.operands:
        return {"true": "1", "false": "0"}.get(f.operator, f.name)
    operands = [f"({_spot_text(g)})" for g in f.operands]
    operator = {"X": "X[!]", "N": "X"}.get(f.operator, f.operator)
    return f"{operator} {operands[0]}" if f.operator in UNARY else f" {operator} ".join(operands)


def run(pairs: int, updates: int, seed: int) -> dict[str, Any]:
    formulas = list(dict.fromkeys(patterns()))
    report: dict[str, Any] = {"formulas": len(formulas)}
    report["all sets"] = measure_equivalence(formulas, FREE, pairs)
    report["one place at a time"] = measure_equivalence(formulas, ONE_PLACE, pairs)
    report["monitor_us"] = measure_monitors(updates, seed)
    if importlib.util.find_spec("spot"):
        report["spot"] = measure_spot(formulas, pairs)
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=1081, help="of formulas, at most all")
    parser.add_argument("--updates", type=int, default=20_000, help="of each monitored formula")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.pairs, options.updates, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
