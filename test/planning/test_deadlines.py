"""Rules with windows in seconds say by when something has to change, whatever their shape."""

from dataclasses import replace
from math import inf

import pytest

from llm_planner.execution.supervision import deadline
from llm_planner.execution.watch import watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse


def left(scene, formula, *seen):
    """The seconds left after the things held at those times."""
    watch = watch_for([Constraint(parse(formula), "so be it")], scene)
    for time, held in seen:
        watch = watch.see(replace(scene, time=time, held=held))
    return deadline(watch.watched[0], seen[-1][0]) - seen[-1][0] if seen else deadline(watch.watched[0], 0.0)


@pytest.mark.parametrize(
    ("formula", "seconds"),
    [
        ("F[0,10] holding(red block)", 8.0),
        ("F[3,10] holding(red block)", 8.0),
        ("true U[0,10] holding(red block)", 8.0),
        ("!G[0,10] !holding(red block)", 8.0),
        ("F[0,10] (holding(red block) & F[0,5] clear(red block))", 8.0),
        ("F[0,10] holding(red block) | F[0,20] holding(blue block)", 18.0),
        ("F[0,10] holding(red block) & F[0,5] holding(blue block)", 3.0),
        ("F[0,10] F[0,10] holding(red block)", 10.0),  # no scene between that one and then would begin another
        ("F holding(red block)", inf),
        ("G[0,10] !holding(red block)", inf),
    ],
)
def test_the_time_left_is_that_of_the_monitor(scene, formula, seconds):
    assert left(scene, formula, (0.0, ""), (2.0, "")) == pytest.approx(seconds, abs=0.02)


def test_a_deadline_that_was_met_is_none_any_more(scene):
    assert left(scene, "F[0,10] holding(red block)", (0.0, ""), (2.0, "red block")) == inf


def test_a_condition_that_comes_true_sets_a_deadline(scene):
    rule = "G (holding(red block) -> F[0,4] !holding(red block))"
    assert left(scene, rule, (0.0, ""), (2.0, "red block"), (3.0, "red block")) == pytest.approx(3.0, abs=0.02)


def test_before_the_first_scene_there_is_none(scene):
    assert left(scene, "F[0,10] holding(red block)") == inf
