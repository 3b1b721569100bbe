"""What really happened says by how much each constraint was kept."""

from dataclasses import replace

import pytest

from llm_planner.execution.watch import ConstraintResult, RunLog, watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import Pose


@pytest.fixture
def kept(scene):
    """What the log says after the hand has been at those places, at those speeds, with that in it."""

    def after(formula, *moments):
        watch, log = watch_for([Constraint(parse(formula), "so be it")], scene), RunLog()
        for time, (position, changes) in enumerate(moments):
            seen = replace(scene, time=float(time), robot=Pose(position), **changes)
            watch = watch.see(seen)
            log.see(watch, seen)
        (one,) = log.kept(watch)
        return one

    return after


HIGH = (0.45, -0.12, 0.4)
LOW = (0.45, -0.12, 0.2)  # 15.5 cm above the red bowl


def test_the_margin_is_that_of_the_worst_moment(kept):
    one = kept("G !near(robot, red bowl)", (HIGH, {}), (LOW, {}), (HIGH, {}))
    assert (one.holds, one.margin, one.unit) == (True, pytest.approx(0.055), "m")


def test_what_was_broken_has_a_negative_margin(kept):
    one = kept("G speed(robot) < 0.2", (HIGH, {}), (HIGH, {"speed": 0.25}), (HIGH, {}))
    assert (one.holds, one.margin, one.unit) == (False, pytest.approx(-0.05), "m/s")


def test_after_an_event_what_was_asked_until_then_counts_no_more(kept):
    slow_until = "speed(robot) < 0.2 U holding(red block)"
    one = kept(slow_until, (HIGH, {"speed": 0.05}), (HIGH, {"held": "red block"}), (HIGH, {"speed": 0.5}))
    assert (one.holds, one.margin) == (True, pytest.approx(0.15))


def test_both_units_are_told_where_both_count(kept):
    one = kept("G (near(robot, red bowl) -> speed(robot) < 0.2)", (HIGH, {}), (LOW, {"speed": 0.1}))
    assert one.unit == "m or m/s"


def test_what_is_only_so_or_not_has_no_margin(kept):
    one = kept("F holding(red block)", (HIGH, {}), (HIGH, {"held": "red block"}))
    assert (one.holds, one.margin) == (True, None)


def test_a_formula_that_counts_changes_has_no_margin(kept):
    one = kept("X speed(robot) < 0.2", (HIGH, {"speed": 0.3}), (HIGH, {}))
    assert (one.holds, one.margin) == (True, None)


def test_a_window_is_read_in_seconds(kept):
    one = kept("F[0,1] distance(robot, red bowl) < 0.3", (HIGH, {}), (LOW, {}), (HIGH, {}))
    assert (one.holds, one.margin) == (True, pytest.approx(0.145))


def test_an_event_is_taken_from_the_letter(scene):
    seen, log = replace(scene, robot=Pose(HIGH)), RunLog()
    watch = watch_for([Constraint(parse("F did(look, lab)"), "look"), Constraint(parse("G !clear(mug)"), "x")], seen)
    for event in ((), ("look", "lab"), ()):
        watch = watch.see(seen, event)
        log.see(watch, seen)
    assert [one.holds for one in log.kept(watch)] == [True, True]


def test_a_run_without_scenes_has_no_margins(scene):
    watch = watch_for([Constraint(parse("G speed(robot) < 0.2"), "slowly")], scene)
    (one,) = RunLog().kept(watch)
    assert (one.holds, one.margin) == (False, None)


@pytest.mark.parametrize(
    ("holds", "margin", "unit", "told"),
    [
        (True, 0.0284, "m", "kept with 2.8 cm to spare: “so be it”"),
        (True, 0.0212, "m/s", "kept with 0.021 m/s to spare: “so be it”"),
        (False, -0.05, "m or m/s", "missed by 0.050 m or m/s: “so be it”"),
        (True, None, "", "kept: “so be it”"),
        (False, 0.1, "m", "not kept: “so be it”"),
    ],
)
def test_how_a_constraint_fared_is_told(holds, margin, unit, told):
    assert str(ConstraintResult(Constraint(parse("G slow"), "so be it"), holds, margin, unit)) == told
