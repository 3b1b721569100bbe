"""Decisions: satisfiable, equivalent, by which shortest trace, and which formulas are in conflict."""

import itertools
import random
import time

import pytest
from reference_semantics import holds

from llm_planner.errors import InputError
from llm_planner.ltl import verbalization
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.decision import difference, equivalent, satisfiable, smallest_conflict, violation, witness
from llm_planner.ltl.formula import conj, dual, iff, neg
from llm_planner.ltl.parser import parse
from llm_planner.ltl.progression import Effort

FREE = Alphabet(("a", "b"))
ONE = Alphabet(("a", "b"), (("a", "b"),))
LONGEST = 4


def shortest_by_trying(f, alphabet):
    """The length and the fewest true propositions of a shortest satisfying trace."""
    for length in range(1, LONGEST + 1):
        traces = itertools.product(alphabet.letters, repeat=length)
        costs = [sum(map(len, trace)) for trace in traces if holds(f, trace)]
        if costs:
            return length, min(costs)
    return None


def cost(trace):
    return None if trace is None or len(trace) > LONGEST else (len(trace), sum(map(len, trace)))


def test_witnesses_and_differences_are_shortest(random_formula):
    rng = random.Random(5)
    for _ in range(200):
        f, g, alphabet = random_formula(rng, 3, "ab"), random_formula(rng, 3, "ab"), rng.choice((FREE, ONE))
        found = witness([f, g], alphabet)
        assert cost(found) == shortest_by_trying(conj(f, g), alphabet)
        assert satisfiable([f, g], alphabet) == (found is not None)
        assert found is None or holds(conj(f, g), found)
        apart = difference(f, g, alphabet)
        assert cost(apart) == shortest_by_trying(neg(iff(f, g)), alphabet)
        assert equivalent(f, g, alphabet) == (apart is None)
        assert cost(violation(f, alphabet)) == shortest_by_trying(neg(f), alphabet)


def test_exclusion_decides_what_is_the_same():
    f, g = parse("F (a & F b)"), parse("F (a & X F b)")
    assert equivalent(f, g, ONE)
    assert difference(f, g, FREE) == (frozenset("ab"),)


def test_exclusion_counts_across_formulas():
    together = [parse("G a"), parse("F b")]
    assert satisfiable(together, FREE)
    assert not satisfiable(together, ONE)
    assert witness(together, ONE) is None


def test_a_conjunction_that_excludes_itself_is_decided_and_not_waited_for():
    assert not satisfiable(parse("F (a & b)"), ONE)


def test_nothing_asked_is_satisfied_by_one_empty_letter():
    assert satisfiable([], Alphabet(()))
    assert witness(parse("true"), FREE) == (frozenset(),)


def test_the_fewest_formulas_in_conflict_are_named():
    formulas = [parse(text) for text in ("F a", "G !b", "F b | G a", "F !a", "true")]
    assert smallest_conflict(formulas, FREE) == (1, 2, 3)
    assert smallest_conflict(formulas[:3], FREE) == ()
    assert smallest_conflict([*formulas, parse("F (a & b)")], ONE) == (5,)
    assert smallest_conflict([], FREE) == ()


def test_of_many_formulas_a_conflict_without_a_superfluous_one_is_named():
    formulas = [parse(text) for text in ["F a"] * 8 + ["G !a", "F b"]]
    assert smallest_conflict(formulas, FREE) == (7, 8)


def test_ten_constraints_over_twenty_propositions_are_decided():
    rooms, things = [f"in(robot, r{k})" for k in range(12)], [f"holding(t{k})" for k in range(8)]
    alphabet = Alphabet(tuple(rooms + things), (tuple(rooms), tuple(things)))
    formulas = [parse(f"F ({rooms[k]} & {things[k % 8]})") for k in range(6)]
    formulas += [parse(f"!{rooms[k]} W {rooms[k - 1]}") for k in range(7, 11)]
    assert satisfiable(formulas, alphabet)
    assert not satisfiable([*formulas, parse(f"G !{things[2]}")], alphabet)


def test_a_question_too_large_says_so():
    names = tuple(f"p{k}" for k in range(20))
    formulas = [parse(f"G F {name}") for name in names]
    with pytest.raises(
        InputError, match=r"too large to decide .*; give their parts as several formulas, ask about fewer"
    ):
        witness(formulas, Alphabet(names))


def test_too_many_steps_say_so():
    visits = [parse("F a & F b"), parse("F (a & X F (b & X F a))"), verbalization.exactly(3, parse("b"))]
    with pytest.raises(InputError, match=r"too large to decide \(more than 500 steps\); .* ask about fewer at once"):
        satisfiable(visits, ONE, Effort(500))


@pytest.mark.parametrize(
    "ask",
    [
        lambda formulas, alphabet: smallest_conflict(formulas, alphabet),
        lambda formulas, alphabet: equivalent(conj(*formulas), conj(*formulas[1:]), alphabet),
        lambda formulas, alphabet: violation(conj(*formulas), alphabet),
    ],
    ids=["conflict", "equivalent", "violation"],
)
def test_every_question_is_answered_soon_or_refused(ask):
    names = tuple(f"p{k:02d}" for k in range(30))
    formulas = [parse(f"F (p{k:02d} & X !p{k + 1:02d})") for k in range(29)]
    begin = time.thread_time()
    with pytest.raises(InputError, match="too large to decide"):
        ask(formulas, Alphabet(names))
    assert time.thread_time() - begin < 2.0


def test_a_long_chain_of_equivalences_is_decided():
    f = parse(" <-> ".join(f"p{k}" for k in range(40)))
    alphabet = Alphabet(f.propositions)
    assert witness(f, alphabet) == (frozenset(),)
    assert [len(letter) for letter in violation(f, alphabet)] == [1]
    assert not equivalent(f, neg(f), alphabet)


def test_an_automaton_is_used_again_over_its_own_alphabet_only():
    found = automaton(parse("F a & F b"), ONE)
    assert equivalent(found, parse("F b & F a"), ONE)
    with pytest.raises(InputError, match="is over another alphabet; make it over the one asked about"):
        satisfiable(found, FREE)


def test_counting_counts_stretches():
    f = parse("a")
    for times in (1, 2, 3):
        exact = conj(verbalization.at_least(times, f), verbalization.at_most(times, f))
        assert equivalent(verbalization.exactly(times, f), exact, FREE)
    twice = [frozenset(word) for word in ("a", "a", "", "a")]
    assert holds(verbalization.exactly(2, f), twice)
    with pytest.raises(InputError, match="13 times cannot be written as a formula; give a number from 0 to 12"):
        verbalization.at_least(13, f)


def test_a_dual_says_the_negation(random_formula):
    rng = random.Random(6)
    for _ in range(200):
        f = random_formula(rng, 3, "ab")
        opposite = dual(f)
        if opposite is not None:
            assert equivalent(opposite, neg(f), FREE)
