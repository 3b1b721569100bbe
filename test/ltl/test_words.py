"""Formulas read back in English: right, short for common shapes, and without a sign of logic."""

import random
import re

import pytest

from llm_planner.ltl import verbalization
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse, parse_prefix
from llm_planner.ltl.verbalization import read_back

SENTENCES = {
    "G !in(robot, server room)": "the robot never enters the server room",
    "!F in(robot, server room)": "the robot never enters the server room",
    "!in(robot, server room) W in(robot, office)": (
        "the robot does not enter the server room before it has been in the office"
    ),
    "!in(robot, lab) U in(robot, office)": (
        "the robot does not enter the lab before it has been in the office, and it enters the office at some point"
    ),
    "!moved(red block) W on(box, shelf)": "the red block is not moved before the box has been on the shelf",
    "F in(robot, lab) & F in(robot, hall) & G !near(robot, vase)": (
        "the robot enters the hall and the lab at some point, in any order; and the robot never comes near the vase"
    ),
    "G !in(robot, lab) & G !in(robot, hall)": "the robot never enters the hall or the lab",
    "F (in(robot, hall) & F in(robot, lab))": (
        "at some point the robot enters the hall, then it enters the lab, in this order"
    ),
    "F (a & X F b)": "at some point a is true, then later b is true, in this order",
    "G (in(robot, lab) -> F holding(red block))": (
        "whenever the robot is in the lab, it holds the red block then or later"
    ),
    "G (in(robot, lab) -> speed(robot) < 0.2)": "whenever the robot is in the lab, it is slower than 0.2 m/s",
    "G (a -> X b)": "whenever a is true, at the next change, which must come, b is true",
    "G (a <-> N b)": "at every moment, a is true exactly if at the next change, if there is one, b is true",
    "G (a -> N G !b)": "whenever a is true, at the next change, if there is one, b is never true from then on",
    "G !(holding(anything) & in(robot, lab))": "the robot never holds anything while it is in the lab",
    "G distance(robot, vase) > 0.3": "the robot is always more than 0.3 m from the vase",
    "G height(cup) < 0.1": "the cup is always lower than 0.1 m",
    "G !did(look, lab)": "the robot never finishes “look: lab”",
    "F clear(red block)": "the red block is clear at some point",
    "G F in(robot, dock)": "the robot is in the dock again and again and at the end",
    "G F a & G F b": "a is true and b is true, each again and again and at the end",
    "G F[0,60] in(robot, dock)": "the robot is in the dock at least once in every 60 seconds",
    "F[0,10] in(robot, lab)": "the robot enters the lab within 10 seconds",
    "F[2,5] a": "a is true between 2 and 5 seconds from now",
    "!(a U[2,5] b)": "this must not be so: (a is true until b is true, and b is true between 2 and 5 seconds from now)",
    "G[2,5] !a & F b": "b is true at some point; and a is never true between 2 and 5 seconds from now",
    "G (a -> F[2,5] b)": "whenever a is true, b is true between 2 and 5 seconds from then",
    "G[0,5] !in(robot, lab)": "the robot never enters the lab during the next 5 seconds",
    "G[0,5] (a | b)": "at every moment during the next 5 seconds a is true or b is true",
    "a & !b": "at the start, a is true and b is not true",
    "a | F b": "either at the start, a is true or b is true at some point",
    "a -> F b": "if at the start, a is true, then b is true at some point",
    "F a <-> G b": "a is true at some point exactly if b is always true",
    "a U b": "a is true until b is true, and b is true at some point",
    "a W b": "a is true until b is true, or for ever",
    "a U G !a": "as soon as a is not true, it stays so for ever, and that comes at some point",
    "a W G !a": "as soon as a is not true, it stays so for ever, if that ever comes",
    "a M b": "up to and at the moment when a is true, which comes, b is true",
    "(a U b) W c": (
        "until (c is true), or for ever, this is so: (a is true until b is true, and b is true at some point)"
    ),
    "!(a U[0,5] b)": "this must not be so: (a is true until b is true, and b is true within 5 seconds)",
    "!a U (a U (!a U b))": "a is true at most once before b has been true, and b is true at some point",
    "F G a": "a is true in the end",
    "F[0,5] G a": "within 5 seconds this becomes so: a is always true from then on",
    "G !in(bottle, hall)": "the bottle never lies in the hall",
    "!in(bottle, hall) W in(bottle, lab)": "the bottle does not lie in the hall before it has lain in the lab",
    "F G in(parcel, lab)": "the parcel lies in the lab in the end",
    "F in(parcel, lab)": "the parcel lies in the lab at some point",
    "G in(parcel, lab)": "the parcel always lies in the lab",
    "G (in(Ben, lab) -> F in(robot, lab))": "whenever Ben is in the lab, the robot enters the lab then or later",
    "F (in(parcel, lab) & in(robot, hall))": (
        "the parcel lies in the lab and the robot is in the hall at some point"
    ),
    "G (F a & F b)": (
        "at every moment this is so: (a is true and b is true at some point, in any order)"
    ),
    "G !(!a & !b & !c)": "at no moment a is not true, b is not true and c is not true",
    "F !(a & b)": "it is not so that (a is true and b is true) at some point",
    "G ((a <-> b) | (a -> c))": (
        "at every moment (a is not true or c is true) or (a is true exactly if b is true)"
    ),
    "true": "anything may happen",
    "false": "nothing can satisfy this",
    "F true & X true": "at the next change, which must come, anything is so",
}  # fmt: skip


@pytest.mark.parametrize("text", SENTENCES)
def test_a_formula_is_read_back_in_plain_words(text):
    assert read_back(parse(text)) == SENTENCES[text]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (verbalization.at_most(1, parse("in(robot, lab)")), "the robot enters the lab at most once"),
        (verbalization.at_least(2, parse("in(robot, lab)")), "the robot enters the lab at least twice"),
        (verbalization.exactly(5, parse("a")), "a is true exactly 5 times"),
        (verbalization.at_most(5, parse("a")), "a is true at most 5 times"),
        (verbalization.at_least(5, parse("a")), "a is true at least 5 times"),
    ],
)
def test_counting_comes_out_short(formula, words):
    assert read_back(formula) == words


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("& U ! b a F b", "a is true, then b is true, none of them before its turn"),
        ("& U ! b a & U ! c b F c", "a is true, then b is true, then c is true, none of them before its turn"),
        (
            "& & U ! b a F b U ! a U a U ! a b",
            "a is true, then b is true, none of them before its turn, each only once before the next",
        ),
    ],
)
def test_orders_come_out_short(prefix, words):
    assert read_back(parse_prefix(prefix)) == words


def test_an_order_with_something_missing_is_not_read_as_that_order():
    words = read_back(parse("!b U a & !c U b"))
    assert "turn" not in words
    assert words.count("before") == 2


def test_every_formula_comes_out_without_a_sign_of_logic_and_nothing_left_out(random_formula):
    rng = random.Random(14)
    for _ in range(1000):
        f = random_formula(rng, 4, "pqs", windows=True)
        words = read_back(f)
        assert not re.search(r"[!&|<>\[\]]|\b[XNFGUWRM]\b", words), (str(f), words)
        for name in f.propositions:
            assert re.search(rf"\b{name}\b", words), (str(f), words)


def test_what_lang2ltl_asks_comes_out_in_one_line(lang2ltl):
    words = read_back(parse_prefix(lang2ltl))
    assert "(" not in words
    assert len(words) < 80 * len(parse_prefix(lang2ltl).propositions)


def test_a_constraint_shows_its_words_and_its_formula():
    assert str(Constraint(parse("G !a"), "never a")) == "never a (G !a)"
