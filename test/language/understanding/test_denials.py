"""Words that forbid something need a formula that does."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.denials import check_negation
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse


def constraint(formula: str, words: str) -> Constraint:
    return Constraint(parse(formula), words)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("F (a & F (b & F c))", "visit a then b but never c"),
        ("F in(robot, lab)", "don't you dare go to the lab"),
        ("F holding(mug) | F holding(vase)", "you may not take the mug or the vase"),
        ("moved(mug) U in(mug, bowl)", "leave the mug alone until it is in the bowl"),
        ("F in(robot, lab)", "stay out of the lab"),
        ("F[0,90] in(robot, lab)", "nobody enters the lab for 90 seconds"),
        ("(in(robot, lab) & speed(robot) < 0.2) U holding(mug)", "never be in the lab until you have the mug"),
    ],
)
def test_a_formula_that_lost_a_negation_is_refused(formula, words):
    with pytest.raises(InputError, match=r"“.*” says '.*', but .* forbids nothing"):
        check_negation(constraint(formula, words))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("F a & G !c", "visit a but never c"),
        ("!b U a", "do not visit b until a"),
        ("G speed(robot) < 0.2", "never faster than 0.2 m/s"),
        ("speed(robot) < 0.1 U holding(mug)", "never faster than 0.1 m/s until you have the mug"),
        ("(speed(robot) < 0.1 & distance(robot, vase) > 0.2) W a", "do not go near, nor exceed 0.1 m/s, before a"),
        ("F a", "do not visit a less than once"),
        ("F a & F b", "do not stop before you have seen a and b"),
        ("F a & F b", "visit a and b in no particular order"),
        ("G in(robot, lab)", "never leave the lab"),
        ("G (a -> c)", "never do a without c"),
        ("F a", "you do not need to hurry, but go to a"),
    ],
)
def test_a_formula_that_forbids_or_need_not_passes(formula, words):
    check_negation(constraint(formula, words))
