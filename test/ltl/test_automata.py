"""Automata: they accept exactly the traces that the definition does, over the letters that can occur."""

import random
import time
from itertools import combinations

import pytest
from reference_semantics import holds

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.formula import atom as proposition
from llm_planner.ltl.formula import conj, finally_, neg
from llm_planner.ltl.parser import parse, parse_prefix
from llm_planner.ltl.progression import MAX_NODES, MAX_STEPS, Diagrams, Effort

FREE = Alphabet(("a", "b", "c"))
ONE = Alphabet(("a", "b", "c"), (("a", "b", "c"),))
PAIR = Alphabet(("a", "b", "c"), (("a", "b"),))


def letters(*words):
    return tuple(frozenset(word) for word in words)


def test_a_trace_is_accepted_exactly_when_it_satisfies_the_formula(random_formula):
    rng = random.Random(3)
    for _ in range(2000):
        f, alphabet = random_formula(rng, 4), rng.choice((FREE, ONE, PAIR))
        found = automaton(f, alphabet)
        for _ in range(5):
            trace = [rng.choice(alphabet.letters) for _ in range(rng.randint(1, 6))]
            assert (found.run(trace) in found.accepting) == holds(f, trace), (f, trace)


def test_live_and_won_tell_what_can_still_come(random_formula):
    rng = random.Random(4)
    for _ in range(300):
        f, alphabet = random_formula(rng, 3), rng.choice((FREE, ONE))
        found = automaton(f, alphabet)
        against = automaton(neg(f), alphabet)
        for state in range(len(found.transitions)):
            reached = _reachable(found, state)
            assert (state in found.won) == (reached <= found.accepting)
            assert (state in found.live) == bool(reached & found.accepting)
        assert bool(_reachable(found, found.step(0, frozenset())) & found.live) == (
            against.step(0, frozenset()) not in against.won
        )


def _reachable(found, state):
    reached, waiting = {state}, [state]
    while waiting:
        for letter in found.alphabet.letters:
            after = found.step(waiting[-1], letter)
            if after not in reached:
                reached.add(after)
                waiting.insert(0, after)
        waiting.pop()
    return reached


@pytest.mark.parametrize(("text", "states"), [("G !a", 2), ("F a", 2), ("!a W b", 3), ("true", 1), ("G F a", 2)])
def test_no_state_is_superfluous(text, states):
    assert len(automaton(parse(text), FREE).transitions) == states


def test_done_means_that_the_finite_trace_satisfies_it():
    """A state that an automaton over endless words would visit again and again is not done before the trace is."""
    found = automaton(parse("G (a -> F b)"), FREE)
    waiting = found.run(letters("a"))
    assert waiting in found.live
    assert waiting not in found.accepting
    assert found.run(letters("a", "b")) in found.accepting


def test_next_is_false_and_weak_next_true_at_the_end():
    assert not holds(parse("X a"), letters("a"))
    assert holds(parse("N a"), letters("b"))
    assert not holds(parse("N a"), letters("b", "b"))


def test_a_room_whose_name_begins_like_another_is_another_room():
    alphabet = Alphabet(("in(robot, room_1)", "in(robot, room_10)"))
    found = automaton(parse("F in(robot, room_1)"), alphabet)
    assert found.run([frozenset({"in(robot, room_10)"})]) not in found.accepting
    assert found.run([frozenset({"in(robot, room_1)"})]) in found.accepting


def test_what_excludes_itself_cannot_be_reached():
    found = automaton(parse("F (a & b)"), ONE)
    assert found.initial not in found.live
    assert automaton(parse("F (a & b)"), FREE).live


def test_a_letter_that_cannot_occur_is_refused():
    with pytest.raises(InputError, match="a and b cannot hold together; check what was observed"):
        automaton(parse("F a & F b"), ONE).step(0, frozenset("ab"))


def test_propositions_of_others_do_not_matter():
    found = automaton(parse("F a"), FREE)
    assert found.step(0, frozenset({"c", "unheard of"})) == found.step(0, frozenset())


def test_the_proposition_must_be_in_the_alphabet():
    with pytest.raises(InputError, match=r"the alphabet has no proposition 'd'; it has: a, b, c"):
        automaton(parse("F d"), FREE)


def test_an_exclusive_proposition_must_be_listed():
    with pytest.raises(InputError, match="the exclusive 'd' is not among the propositions: a; add it"):
        Alphabet(("a",), (("a", "d"),))


def test_letters_are_all_sets_or_those_that_can_occur():
    assert len(FREE.letters) == 8
    assert set(ONE.letters) == {frozenset(), *letters("a", "b", "c")}
    with pytest.raises(InputError, match="20 propositions give more than 65536 letters; say which exclude each other"):
        _ = Alphabet(tuple(f"p{k}" for k in range(20))).letters


def test_seconds_are_the_monitors_business():
    with pytest.raises(InputError, match=r"F\[0,10\] a counts seconds: watch it with a Monitor"):
        automaton(parse("F[0,10] a"), FREE)
    with pytest.raises(InputError, match="a trace has no times; use holds_in_time"):
        holds(parse("F[0,10] a"), letters("a"))


def test_the_empty_trace_is_none():
    with pytest.raises(InputError, match="a trace has at least one letter"):
        holds(parse("G a"), ())


def test_many_free_propositions_need_no_list_of_letters():
    names = tuple(f"p{k}" for k in range(24))
    found = automaton(parse("F (" + " | ".join(names) + ")"), Alphabet(names))
    assert len(found.transitions) == 2


def test_too_many_states_are_refused_with_the_way_out():
    names = [f"p{k}" for k in range(13)]
    everything = conj(*(finally_(proposition(name)) for name in names))
    with pytest.raises(InputError, match="more than 5000 states; give the parts of the formula as several constraints"):
        automaton(everything, Alphabet(tuple(names), (tuple(names),)))


def test_too_many_obligations_are_refused_with_the_way_out():
    atoms = [proposition(f"p{k}") for k in range(40)]
    everything = conj(*(finally_(conj(*pair)) for pair in combinations(atoms, 2)))
    with pytest.raises(InputError, match="more than 500 obligations open; give its parts as several formulas"):
        automaton(everything, Alphabet(everything.propositions))


def test_too_many_propositions_are_refused_with_the_way_out():
    names = tuple(f"p{k}" for k in range(201))
    with pytest.raises(InputError, match="speaks of 201 propositions, and at most 200 are decided together; give its"):
        automaton(parse(" | ".join(names)), Alphabet(names))


def chain(length):
    return parse(" <-> ".join(f"p{k}" for k in range(length)))


@pytest.mark.parametrize("length", [2, 5, 40])
def test_a_long_chain_of_equivalences_has_a_small_automaton(length):
    """Whether an even number of them does not hold: a question each, though all letters are told apart."""
    f = chain(length)
    found = automaton(f, Alphabet(f.propositions))
    assert len(found.transitions) == 3
    for holding in (0, 1, 2, length):
        letter = frozenset(f.propositions[:holding])
        assert (found.run([letter]) in found.accepting) == holds(f, [letter])


def test_what_would_take_too_long_is_refused_before_it_does():
    """Twelve requests that may wait at once: more states and letters than anyone can go through."""
    f = parse(" & ".join(f"G (p{k} -> F q{k})" for k in range(12)))
    begin = time.thread_time()
    with pytest.raises(InputError, match=rf"too large to decide .more than {MAX_STEPS} steps.; give their parts as"):
        automaton(f, Alphabet(f.propositions))
    assert time.thread_time() - begin < 2.0


@pytest.mark.parametrize("formula", [5, 8], ids="{} rules".format)
def test_several_rules_that_wait_at_once_are_decided(formula):
    f = parse(" & ".join(f"G (p{k} -> F q{k})" for k in range(formula)))
    assert len(automaton(f, Alphabet(f.propositions)).transitions) == 2**formula


def test_twelve_rooms_are_visited_in_any_order():
    names = tuple(f"in(robot, room {k})" for k in range(12))
    found = automaton(conj(*(finally_(proposition(name)) for name in names)), Alphabet(names, (names,)))
    assert len(found.transitions) == 2**12


def test_effort_is_counted_and_renewed():
    effort = Effort(3)
    effort.spend(3)
    with pytest.raises(InputError, match="more than 3 steps"):
        effort.spend()
    effort.renew()
    effort.spend(3)


def test_a_diagram_that_grows_too_large_is_refused():
    diagrams = Diagrams(Effort())
    for variable in range(MAX_NODES - 1):
        diagrams.node(variable, 0, 1)
    with pytest.raises(InputError, match=f"too large to decide .more than {MAX_NODES} cases.; give its parts"):
        diagrams.node(MAX_NODES, 0, 1)


def test_lang2ltl_automata_are_made_within_the_promised_time(lang2ltl):
    alphabet = Alphabet(tuple("abcdh"), (tuple("abcdh"),))
    begin = time.thread_time()
    automaton(parse_prefix(lang2ltl), alphabet)
    assert time.thread_time() - begin < 0.05
