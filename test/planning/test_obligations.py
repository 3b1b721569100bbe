"""What a rule asks of the motion follows from its automaton, whatever the shape of its formula."""

import pytest

from llm_planner.execution.motion_rules import Lever, obligations
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.monitor import Monitor
from llm_planner.ltl.parser import parse

LEVERS = (Lever("near", False, 0.0), Lever("slow", True, 1.0))
CLOSE = (Lever("near", False, 2.0), Lever("slow", True, 1.0))


def owed(formula, *letters, levers=LEVERS, ahead=(), alphabet=None, times=None):
    """What the motion has to keep after those letters, as text."""
    monitor = Monitor(parse(formula), alphabet)
    for time, letter in enumerate(letters):
        monitor.observe(frozenset(letter), times[time] if times else float(time))
    found = obligations(monitor, frozenset(letters[-1]), levers, map(frozenset, ahead))
    return [("" if one.value else "!") + one.proposition + ("" if one.kept_by_motion else "?") for one in found]


@pytest.mark.parametrize(
    ("formula", "letter", "expected"),
    [
        ("G !near", (), ["!near"]),
        ("G slow", ("slow",), ["slow"]),
        ("G (slow & !near)", ("slow",), ["!near", "slow"]),
        ("!near W done", (), ["!near"]),
        ("slow U done", ("slow",), ["slow"]),
        ("done R !near", (), ["!near"]),
        ("done -> G !near", (), []),
        ("!done -> G !near", (), ["!near"]),
        ("F near", (), []),
        ("G (near -> F done)", (), []),
        ("!near & X near", (), []),
        ("G done", ("done",), []),
    ],
)
def test_an_obligation_is_what_would_kill_the_automaton_if_it_changed(formula, letter, expected):
    assert owed(formula, letter) == expected


def test_an_event_releases_what_was_owed_until_then():
    assert owed("slow U done", ("slow",), ("slow", "done")) == []
    assert owed("!near W done", (), ("done",), ()) == []


def test_an_event_brings_about_what_is_owed_from_then_on():
    assert owed("G (done -> X G slow)", ("slow",)) == []
    assert owed("G (done -> X G slow)", ("slow",), ("slow", "done")) == ["slow"]


def test_a_condition_is_read_in_the_letter_of_the_moment():
    assert owed("G (held -> slow)", ("slow",)) == []
    assert owed("G (held -> slow)", ("slow", "held")) == ["slow"]


def test_what_is_about_to_happen_counts_already():
    assert owed("G (held -> slow)", ("slow",), ahead=[("held",)]) == ["slow"]
    assert owed("G (held -> slow)", (), ahead=[("held",)]) == ["slow"]  # fast now, and to be slow by then


def test_what_is_about_to_happen_and_cannot_be_helped_takes_nothing_from_what_can():
    assert owed("G !held & G !near", (), ahead=[("held",)]) == ["!near"]


def test_of_two_ways_to_keep_a_rule_the_cheaper_is_taken():
    assert owed("G (near -> slow)", ("slow",)) == ["!near"]
    assert owed("G (near -> slow)", ("slow",), levers=CLOSE) == ["slow"]


def test_until_the_cheaper_way_has_come_true_the_other_is_kept_too():
    assert owed("G (near -> slow)", (), levers=CLOSE) == ["slow", "!near"]
    assert owed("G (near -> slow)", ("near", "slow"), levers=CLOSE) == ["slow"]


def test_what_no_limit_of_the_controller_can_keep_is_told_as_such():
    assert owed("G near", ("near",)) == ["near?"]
    assert owed("G !slow", ()) == ["!slow?"]


def test_a_rule_that_is_lost_or_won_asks_for_nothing():
    assert owed("G !near", ("near",)) == []
    assert owed("F done | G !near", ("done",)) == []


def test_letters_that_cannot_occur_bind_nobody():
    names = ("hall", "lab")
    levers = tuple(Lever(name, False, 0.0) for name in names)
    rule = "G (hall -> !lab)"
    assert owed(rule, ("hall",), levers=levers, alphabet=Alphabet(names, (names,))) == []
    assert owed(rule, ("hall",), levers=levers) == ["!lab"]


def test_windows_in_seconds_bind_while_they_last():
    assert owed("G[0,5] slow", ("slow",), ("slow",), times=(0.0, 4.0)) == ["slow"]
    assert owed("G[0,5] slow", ("slow",), ("slow",), times=(0.0, 6.0)) == []


def test_more_choices_than_can_be_tried_are_kept_as_they_are():
    names = [f"near{k:02}" for k in range(12)]
    levers = tuple(Lever(name, False, 0.0) for name in names)
    some_are_far = "G (" + " | ".join(f"!{name}" for name in names) + ")"
    assert owed(some_are_far, (), levers=levers) == ["!near08", "!near09", "!near10", "!near11"]
