"""The same answers as Spot (Duret-Lutz et al. 2022), where it is installed; it is never needed."""

import random

import pytest

from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.decision import equivalent, satisfiable
from llm_planner.ltl.formula import UNARY, Formula, conj

spot = pytest.importorskip("spot", reason="Spot (PyPI: spottl, GPL) is not installed; it only checks our own answers")


def as_spot(f: Formula) -> object:
    """Spot writes the next moment that must come as X[!], and X where it need not."""
    return spot.from_ltlf(spot.formula(_text(f)), "alive")


def _text(f: Formula) -> str:
    if not f.operands:
        return {"true": "1", "false": "0"}.get(f.operator, f.name)
    operator = {"X": "X[!]", "N": "X"}.get(f.operator, f.operator)
    operands = [f"({_text(g)})" for g in f.operands]
    return f"{operator} {operands[0]}" if f.operator in UNARY else f" {operator} ".join(operands)


def test_satisfiable_and_equivalent_as_spot_says(random_formula):
    rng, alphabet = random.Random(15), Alphabet(("a", "b", "c"))
    same = 0
    for _ in range(400):
        f, g = (random_formula(rng, 3) for _ in range(2))
        g = conj(f, g) if rng.random() < 0.3 else g
        assert satisfiable(f, alphabet) != spot.translate(as_spot(f)).is_empty(), str(f)
        expected = spot.are_equivalent(as_spot(f), as_spot(g))
        assert equivalent(f, g, alphabet) == expected, (str(f), str(g))
        same += expected
    assert same > 10
