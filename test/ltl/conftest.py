"""Random formulas and the formulas of Lang2LTL's data, for tests that compare two ways to the same answer."""

import random
from collections.abc import Callable

import pytest

from llm_planner.ltl import formula as build
from llm_planner.ltl.formula import Formula

UNARY = ("!", "X", "N", "F", "G")
LANG2LTL = (
    "F a", "& F a & F b F c", "F & a F & b F c", "& U ! b a & U ! c b F c", "& & U ! b a F b U ! a U a U ! a b",
    "& & U ! b a & U ! c b & U ! d c & U ! h d F h "
    "& U ! a U a U ! a b & U ! b U b U ! b c & U ! c U c U ! c d U ! d U d U ! d h",
    "& & U ! b a & U ! c b F c & U ! a U a U ! a b U ! b U b U ! b c",
    "G F a", "& G F a & G F b & G F c & G F d G F h", "& G ! a G ! b", "U ! a b", "G i a X G ! b", "G i a F b",
    "G e a X b", "U a b", "G i a X b", "! F & a U a & ! a U ! a F a", "F & a U a & ! a U ! a F a",
    "M a | ! a G | a G ! a", "M & a F & ! a F a | ! a G | a G | ! a G | a G ! a",
)  # fmt: skip

MakeFormula = Callable[..., Formula]


def _random_formula(rng: random.Random, depth: int, names: str = "abc", windows: bool = False) -> Formula:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*(build.atom(name) for name in names for _ in range(3)), build.TRUE, build.FALSE])
    operator = rng.choice(tuple(build.CONSTRUCTORS))
    operands = [_random_formula(rng, depth - 1, names, windows) for _ in range(1 if operator in UNARY else 2)]
    if windows and operator in ("F", "G", "U") and rng.random() < 0.7:
        first = rng.randint(0, 3)
        return build.CONSTRUCTORS[operator](*operands, within=(first, first + rng.randint(0, 4)))
    return build.CONSTRUCTORS[operator](*operands)


@pytest.fixture(scope="session")
def random_formula() -> MakeFormula:
    return _random_formula


@pytest.fixture(params=LANG2LTL)
def lang2ltl(request: pytest.FixtureRequest) -> str:
    return str(request.param)
