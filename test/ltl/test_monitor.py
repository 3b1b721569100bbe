"""Monitors: what they say while a run goes on agrees with the definition, and they say it at once."""

import random
import time

import pytest
from reference_semantics import holds_in_time

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.decision import satisfiable
from llm_planner.ltl.formula import conj, implies
from llm_planner.ltl.monitor import Monitor, Verdict, satisfied, untimed
from llm_planner.ltl.parser import parse

FREE = Alphabet(("a", "b"))
ONE = Alphabet(("a", "b"), (("a", "b"),))
NOTHING, A, B, BOTH = (frozenset(word) for word in ("", "a", "b", "ab"))


def verdicts(text, *updates, alphabet=FREE):
    monitor = Monitor(parse(text), alphabet)
    return [monitor.observe(letter, at) for at, letter in updates]


def run_of(rng, alphabet):
    at, updates = 0.0, []
    for _ in range(rng.randint(1, 8)):
        at += rng.choice((0.0, 0.5, 1.0, 2.0))
        updates.append((at, rng.choice(alphabet.letters)))
    return updates


def test_verdicts_agree_with_the_definition_in_time(random_formula):
    rng = random.Random(7)
    for _ in range(2000):
        f, alphabet = random_formula(rng, 3, "ab", windows=True), rng.choice((FREE, ONE))
        monitor, given, final = Monitor(f, alphabet), [], None
        for at, letter in run_of(rng, alphabet):
            given.append((at, letter))
            verdict = monitor.observe(letter, at)
            now = holds_in_time(f, [letter for _, letter in given], [at for at, _ in given])
            assert monitor.accepts == now == satisfied(f, given), (str(f), given)
            assert not (now and verdict.lost)
            assert now or verdict is not Verdict.SATISFIED
            assert final in (None, verdict) or (final is Verdict.DOOMED and verdict is Verdict.VIOLATED)
            final = None if verdict is Verdict.PENDING else verdict


def test_without_seconds_a_verdict_comes_as_soon_as_it_is_certain(random_formula):
    rng = random.Random(8)
    for _ in range(500):
        f, alphabet = random_formula(rng, 3, "ab"), rng.choice((FREE, ONE))
        monitor, found, state, before = Monitor(f, alphabet), automaton(f, alphabet), 0, None
        for at, letter in run_of(rng, alphabet):
            verdict = monitor.observe(letter, at)
            state = state if letter == before else found.step(state, letter)
            before = letter
            assert verdict.lost == (state not in found.live)
            assert (verdict is Verdict.SATISFIED) == (state in found.won)


def test_a_look_ahead_changes_nothing(random_formula):
    rng = random.Random(9)
    for _ in range(500):
        f = random_formula(rng, 3, "ab", windows=True)
        looking, blind = Monitor(f, ONE), Monitor(f, ONE)
        for at, letter in run_of(rng, ONE):
            expected = {peek: looking.doomed_by(peek, at) for peek in ONE.letters}
            verdict = looking.observe(letter, at)
            assert verdict is blind.observe(letter, at)
            assert verdict.lost == expected[letter]


def test_never_is_pending_until_it_happens():
    assert verdicts("G !a", (0, NOTHING), (1, B), (2, A)) == [Verdict.PENDING, Verdict.PENDING, Verdict.VIOLATED]


def test_what_is_reached_is_satisfied_for_good():
    assert verdicts("F a", (0, NOTHING), (1, A), (2, NOTHING)) == [
        Verdict.PENDING, Verdict.SATISFIED, Verdict.SATISFIED,
    ]  # fmt: skip


def test_doomed_is_what_only_impossible_letters_could_save():
    assert verdicts("F (a & b)", (0, A), alphabet=ONE) == [Verdict.DOOMED]
    assert verdicts("F (a & b)", (0, A), alphabet=FREE) == [Verdict.PENDING]
    assert Monitor(parse("F a & G !a"), ONE).verdict is Verdict.VIOLATED


def test_a_letter_that_nobody_expected_is_followed_all_the_same():
    assert verdicts("F (a & b)", (0, A), (1, BOTH), alphabet=ONE) == [Verdict.DOOMED, Verdict.SATISFIED]


def test_next_waits_for_a_change():
    assert verdicts("a & X b", (0, A), (1, A), (2, B)) == [Verdict.PENDING, Verdict.PENDING, Verdict.SATISFIED]
    assert verdicts("a & X b", (0, A), (1, A), (2, NOTHING))[-1] is Verdict.VIOLATED


def test_time_passes_though_nothing_changes():
    assert verdicts("F[0,10] a", (0, B), (5, B), (10, B), (10.1, B)) == [Verdict.PENDING] * 3 + [Verdict.VIOLATED]
    assert verdicts("G[0,10] b", (0, B), (5, B), (10.1, B)) == [Verdict.PENDING] * 2 + [Verdict.SATISFIED]


def test_a_deadline_is_doomed_at_once_by_what_forbids_it():
    assert verdicts("F[0,10] a & G !a", (0, NOTHING))[0].lost
    assert verdicts("F[0,10] (a & b)", (0, NOTHING), alphabet=ONE) == [Verdict.DOOMED]


def test_a_formula_too_large_to_watch_is_refused():
    f = parse(" & ".join(f"G (p{k} -> F[0,5] q{k})" for k in range(12)))
    begin = time.thread_time()
    with pytest.raises(InputError, match=r"too large to decide .*; give their parts as several formulas"):
        Monitor(f)
    assert time.thread_time() - begin < 2.0


def test_a_long_chain_of_equivalences_is_watched():
    f = parse(" <-> ".join(f"p{k}" for k in range(40)))
    assert Monitor(f).observe(NOTHING, 0.0) is Verdict.SATISFIED
    assert Monitor(f).observe(frozenset({"p3"}), 0.0) is Verdict.VIOLATED


def test_before_the_first_update_nothing_is_accepted():
    monitor = Monitor(parse("G !a"))
    assert not monitor.accepts
    assert monitor.verdict is Verdict.PENDING


def test_updates_come_in_order():
    monitor = Monitor(parse("F[0,1] a"))
    monitor.observe(NOTHING, 2.0)
    with pytest.raises(InputError, match="an update at 1 s came after one at 2 s; give updates in order"):
        monitor.observe(A, 1.0)


def test_times_are_as_many_as_letters_and_do_not_fall():
    with pytest.raises(InputError, match="2 letters need as many times that do not fall"):
        holds_in_time(parse("F[0,1] a"), [A, B], [1.0, 0.0])


def test_without_the_clock_a_formula_demands_less_and_grants_more(random_formula):
    rng = random.Random(10)
    for _ in range(1000):
        f = random_formula(rng, 3, "ab", windows=True)
        updates = run_of(rng, FREE)
        letters, times = [letter for _, letter in updates], [at for at, _ in updates]
        now = holds_in_time(f, letters, times)
        assert not now or holds_in_time(untimed(f), letters, times), (str(f), updates)
        assert now or not holds_in_time(untimed(f, necessary=False), letters, times), (str(f), updates)


def test_without_the_clock_a_conflict_is_still_found():
    f = conj(parse("F[0,10] a"), implies(parse("F[0,5] b"), parse("G !a")), parse("F b"))
    assert satisfiable(untimed(f), FREE)
    assert not satisfiable(untimed(conj(f, parse("G !a"))), FREE)


@pytest.mark.parametrize("text", ["G !a", "G (a -> F[0,5] b)", "G F[5,10] a", "!a W b"])
def test_a_long_run_needs_no_more_memory_and_little_time(text):
    rng, monitor, letter = random.Random(11), Monitor(parse(text)), NOTHING
    taken = []
    for k in range(3000):
        letter = rng.choice(FREE.letters) if k % 20 == 0 else letter
        if monitor.verdict.lost:
            monitor = Monitor(parse(text))
        begin = time.thread_time()
        monitor.observe(letter, 0.05 * k)
        taken.append(time.thread_time() - begin)
    assert sorted(taken)[len(taken) // 2] < 500e-6
