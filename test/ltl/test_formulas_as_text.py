"""Formulas: how they are written, read, printed, and refused."""

import copy
import pickle
import random
import re

import pytest

from llm_planner.errors import InputError
from llm_planner.ltl import formula as build
from llm_planner.ltl.formula import FALSE, TRUE, atom, conj, disj, finally_, globally, iff, implies, neg, prefix
from llm_planner.ltl.parser import MAX_TEXT, FormulaError, parse, parse_prefix

a, b, c = atom("a"), atom("b"), atom("c")


def refusal(text, read=parse):
    with pytest.raises(FormulaError) as caught:
        read(text)
    return caught.value


def test_equal_formulas_are_one_object():
    assert conj(a, finally_(b)) is conj(finally_(b), a)
    assert pickle.loads(pickle.dumps(conj(a, b))) is conj(a, b)
    assert copy.deepcopy(finally_(a)) is finally_(a)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a & b | c", disj(conj(a, b), c)),
        ("a | b -> c", implies(disj(a, b), c)),
        ("a -> b -> c", implies(a, implies(b, c))),
        ("a -> b <-> c", iff(implies(a, b), c)),
        ("a U b U c", build.until(a, build.until(b, c))),
        ("a & b U c", conj(a, build.until(b, c))),
        ("!a U b", build.until(neg(a), b)),
        ("G a -> b", implies(globally(a), b)),
        ("X N F G a", build.next_(build.weak_next(finally_(globally(a))))),
        ("a R b W c M a", build.release(a, build.weak_until(b, build.strong_release(c, a)))),
        ("a && b || ~c => [] a <=> <> b", parse("a & b | !c -> G a <-> F b")),
        ("¬a ∧ b ∨ c → □ a ↔ ◇ b", parse("!a & b | c -> G a <-> F b")),
        ("F[0,10] a & G[2,5] b & a U[0,1.5] c", conj(finally_(a, 10), globally(b, (2, 5)), build.until(a, c, 1.5))),
        ("G distance( robot,vase )>0.30", globally(atom("distance(robot, vase) > 0.3"))),
        ("(((true)))", TRUE),
    ],
)
def test_infix_is_read_by_the_documented_precedence(written, meant):
    assert parse(written) is meant


def test_a_proposition_may_hold_names_with_spaces():
    assert parse("G !in(robot, server room) & F on(red block, blue block)").propositions == (
        "in(robot, server room)",
        "on(red block, blue block)",
    )


def test_printing_reads_back_as_the_same_formula(random_formula):
    rng = random.Random(1)
    for _ in range(2000):
        f = random_formula(rng, 5, windows=True)
        assert parse(str(f)) is f
        assert parse_prefix(prefix(f)) is f


def test_printing_uses_no_parenthesis_that_can_be_left_out(random_formula):
    rng = random.Random(2)
    for _ in range(300):
        f = random_formula(rng, 4)
        for match in re.finditer(r"\(", str(f)):
            closing = _closing(str(f), match.start())
            without = str(f)[: match.start()] + " " + str(f)[match.start() + 1 : closing] + " " + str(f)[closing + 1 :]
            assert parse(without) is not f, (str(f), without)


def _closing(text, opening):
    level = 0
    for position in range(opening, len(text)):
        level += {"(": 1, ")": -1}.get(text[position], 0)
        if level == 0:
            return position
    raise AssertionError(text)


def test_lang2ltl_prefix_is_read_and_written(lang2ltl):
    f = parse_prefix(lang2ltl)
    assert parse_prefix(prefix(f)) is f
    assert parse(str(f)) is f


def test_prefix_spells_implication_and_equivalence_as_letters():
    assert parse_prefix("G i a e b c") is globally(implies(a, iff(b, c)))
    assert prefix(globally(implies(a, b))) == "G i a b"
    with pytest.raises(InputError, match="cannot name the proposition 'e': it is an operator there"):
        prefix(parse("F e"))


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("F (a & )", 7, r"character 8: found '\)', expected a proposition.*\n  F \(a & \)\n         \^\n"),
        ("(a", 2, r"found the end, expected .* the \) that closes character 1"),
        ("", 0, "found the end, expected a proposition"),
        ("a b", 2, "found 'b', expected one of & |"),
        ("a and b", 2, "write & for and"),
        ("GF a", 3, "write a space between operators: G F"),
        ("a > b", 2, "a comparison needs a number"),
        ("G speed(robot) <= 0.2", 15, r"found '<=', .*\n.*\n.*\ncomparisons are written with < or >: speed"),
        ("G distance(robot, a) >= 2", 21, r"comparisons are written with < or >: distance"),
        ("G a = b", 4, "comparisons are written with < or >"),
        ("G height(cup) > -0.5", 16, r"found '-', .*\n.*\n.*\na number is not negative: distances, speeds and"),
        ("G True", 2, "'True' names no proposition: the constants are written true and false"),
        ("FALSE -> a", 0, "'FALSE' names no proposition: the constants are written true and false"),
        ("a U [10,0] b", 4, r"window \[10,0\] must be two times from now in seconds, earlier first"),
        ("F[3 a", 1, "a window is two times in seconds"),
        ("F[5,2] a", 1, r"window \[5,2\] must be two times from now in seconds, earlier first"),
        ("in(robot, lab", 8, "a comma only separates arguments"),
        ("in (robot)", 3, "without a space"),
        ("in(robot,,lab)", 0, "has an empty argument"),
        ("a @ b", 2, "found '@', expected a proposition or an operator"),
        ("(" * 500 + "a" + ")" * 500, 200, "more than 200 operators and parentheses within each other"),
        ("X N " * 60 + "a", 40, "nests operators more than 100 deep"),
        ("a & " * MAX_TEXT, MAX_TEXT, "at most 20000 are read"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(text, position, problem):
    error = refusal(text)
    assert re.search(problem, str(error)), str(error)
    assert error.position == position


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("& a", 3, "expected 1 more operand"),
        ("a b", 2, "the formula is already complete"),
        ("& ( a ) b", 2, "no parentheses in prefix notation"),
    ],
)
def test_prefix_that_cannot_be_read_is_refused_at_its_place(text, position, problem):
    error = refusal(text, parse_prefix)
    assert problem in str(error)
    assert error.position == position


def test_a_formula_that_grows_too_large_is_refused():
    f = iff(a, b)
    while f.size < 2000:
        f = build.until(f, build.next_(f))
    with pytest.raises(InputError, match="more than 4000 operators; give its parts as several formulas"):
        build.until(f, build.next_(f))


@pytest.mark.parametrize("name", ["F", "true", "a b", "", "in(a", "1a", "in(a & b)"])
def test_a_name_that_cannot_be_written_names_no_proposition(name):
    with pytest.raises(InputError, match="cannot name a proposition"):
        atom(name)


@pytest.mark.parametrize(
    ("simplified", "same"),
    [
        ("!!a", "a"), ("a & a & true", "a"), ("a & !a", "false"), ("a | !a", "true"), ("F F a", "F a"),
        ("G true", "true"), ("a U (a U b)", "a U b"), ("true U a", "F a"), ("a W false", "G a"), ("false R a", "G a"),
        ("a M true", "F a"), ("false -> a", "true"), ("a <-> !a", "false"), ("a <-> true", "a"), ("X false", "false"),
        ("N true", "true"), ("b & (c & a)", "a & b & c"),
    ],
)  # fmt: skip
def test_a_formula_is_simplified_as_it_is_made(simplified, same):
    assert parse(simplified) is parse(same)


def test_next_of_true_is_kept_because_a_trace_may_end():
    assert parse("X true") is not TRUE
    assert parse("N false") is not FALSE
