"""What edges say: the fewest words that fit all letters that can occur, and no letter that leads elsewhere."""

import itertools

import pytest

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.automaton_picture import ALWAYS, condition_text, conditions, short_name
from llm_planner.ltl.parser import parse


@pytest.fixture
def texts():
    """The conditions out of the first state, as text, of a formula over its propositions."""

    def make(text, *exclusive):
        formula = parse(text)
        built = automaton(formula, Alphabet(formula.propositions, exclusive))
        return {condition_text(cubes) for cubes in conditions(built, 0).values()}

    return make


def test_a_condition_is_as_short_as_it_can_be(texts):
    assert texts("F (a & b)") == {"a & b", "!a | !b"}
    assert texts("X true & (a | !a)") == {ALWAYS}


def test_more_conditions_than_anybody_could_read_are_refused(texts):
    with pytest.raises(InputError, match="more than 1000 conditions; draw the formula in smaller parts"):
        texts(" <-> ".join(f"p{k}" for k in range(40)))


def test_letters_that_cannot_occur_shorten_conditions(texts):
    pair = ("in(robot, kitchen)", "in(robot, lab)")
    assert texts("!in(robot, lab) U in(robot, kitchen)", pair) == {"in kitchen", "in lab", "!in kitchen & !in lab"}
    assert texts("F (in(robot, kitchen) & !in(robot, lab))", pair) == {"in kitchen", "!in kitchen"}


@pytest.mark.parametrize("text", ["a U (b & !c)", "F a & F b & G (c -> X d)", "G (a <-> b) | X c", "(a | b) & (c | d)"])
def test_every_letter_fits_the_condition_of_the_edge_that_it_takes_and_no_other(text):
    formula = parse(text)
    built = automaton(formula, Alphabet(formula.propositions))
    for state in range(len(built.transitions)):
        found = conditions(built, state)
        for letter in built.alphabet.letters:
            fitting = {
                target
                for target, cubes in found.items()
                if any(all((name in letter) == yes for name, yes in cube) for cube in cubes)
            }
            assert fitting == {built.step(state, letter)}


def test_of_many_propositions_the_decisions_are_told_as_they_are(texts):
    names = [f"a{k}" for k in range(9)]
    found = texts(f"F ({' & '.join(names)})")
    assert " & ".join(names) in found
    rest = " | ".join(" & ".join([*before, f"!{name}"]) for before, name in
                      ((itertools.islice(names, k), name) for k, name in enumerate(names)))  # fmt: skip
    assert sorted(rest.split(" | ")) == sorted(next(text for text in found if "!" in text).split(" | "))


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("in(robot, server room)", "in server room"),
        ("near(robot, vase)", "near vase"),
        ("distance(robot, vase) > 0.3", "distance vase > 0.3"),
        ("speed(robot) < 0.2", "speed < 0.2"),
        ("in(mug, bowl)", "in(mug, bowl)"),
        ("a", "a"),
    ],
)
def test_what_is_said_of_the_robot_does_not_name_it(name, short):
    assert short_name(name) == short
