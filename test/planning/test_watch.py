"""Constraints read scenes as they come; what is foreseen can be forgotten again."""

from dataclasses import replace
from math import isnan

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.watch import check_watchable, margin, watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.monitor import Verdict
from llm_planner.ltl.parser import parse
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Pose


def constraint(formula, words="so it shall be", goal=False):
    return Constraint(parse(formula), words, goal)


def watching(scene, *formulas):
    return watch_for([constraint(formula) for formula in formulas], scene)


def holding(scene, name, time):
    return replace(scene, held=name, time=time)


def verdicts(watch):
    return [one.verdict for one in watch.watched]


def test_a_rule_is_pending_until_it_is_broken_for_good(scene):
    watch = watching(scene, "G !holding(red block)").see(scene)
    assert (verdicts(watch), watch.broken, watch.unmet) == ([Verdict.PENDING], (), ())
    watch = watch.see(holding(scene, "red block", 1.0)).see(holding(scene, "", 2.0))
    assert [item.words for item in watch.broken] == ["so it shall be"]


def test_a_goal_is_unmet_until_it_has_come_true(scene):
    watch = watching(scene, "F holding(red block)").see(scene)
    assert len(watch.unmet) == 1
    watch = watch.see(holding(scene, "red block", 1.0)).see(holding(scene, "", 2.0))
    assert (watch.unmet, verdicts(watch)) == ((), [Verdict.SATISFIED])


def test_the_trace_has_one_letter_for_every_change(scene):
    watch = watching(scene, "F holding(red block)", "F holding(green block)")
    for time, name in enumerate(["", "", "red block", "red block", "", "green block"]):
        watch = watch.see(holding(scene, name, float(time)))
    assert watch.trace == (
        frozenset(),
        frozenset({"holding(red block)"}),
        frozenset(),
        frozenset({"holding(green block)"}),
    )
    assert watch.last_change == "holding(green block)"
    assert watch.see(holding(scene, "", 6.0)).last_change == "no longer holding(green block)"


def test_what_another_constraint_speaks_of_is_no_change_to_this_one(scene):
    after = "G (holding(red block) -> X holding(blue block))"
    seen = [holding(scene, name, float(time)) for time, name in enumerate(["red block", "green block", "blue block"])]
    alone, together = watching(scene, after), watching(scene, after, "F clear(mug)", "F clear(red bowl)")
    for moment in seen:
        alone, together = alone.see(moment), together.see(moment)
    assert verdicts(together)[0] is verdicts(alone)[0]


def test_a_thing_has_moved_by_where_it_lay_at_the_first_scene(scene):
    watch = watching(scene, "G !moved(red block)").see(scene)
    item = scene.find("red block")
    elsewhere = replace(item, position=(0.3, 0.3, 0.02))
    moved = replace(scene, time=1.0, objects=tuple(elsewhere if o is item else o for o in scene.objects))
    assert watch.see(moved).broken
    assert not watching(scene, "G !moved(red block)").see(moved).broken
    assert watch.see(replace(scene, time=1.0, held="red block")).broken


def test_an_event_is_seen_once(scene):
    watch = watching(scene, "F did(pick, red block)").see(scene)
    done = watch.see(scene, ("pick", "red block"))
    assert not done.unmet
    assert done.see(scene).trace == (frozenset(), frozenset({"did(pick, red block)"}), frozenset())


def test_what_is_foreseen_changes_nothing(scene):
    watch = watching(scene, "G !holding(red block)", "F[0,5] holding(green block)").see(scene)
    moments = [Moment(holding(scene, name, time)) for name, time in (("", 1.0), ("red block", 2.0), ("", 3.0))]
    ahead = watch.foresee(moments)
    assert [str(item.formula) for item in ahead.broken] == ["G !holding(red block)"]
    assert ahead.last_change == "holding(red block)"  # nothing after the break is read
    assert not watch.broken
    assert not watch.see(holding(scene, "green block", 4.0)).unmet


def test_seconds_are_counted_also_while_nothing_changes(scene):
    watch = watching(scene, "F[0,5] holding(green block)")
    for time in range(6):
        watch = watch.see(holding(scene, "", float(time)))
        assert not watch.broken
    assert watch.see(holding(scene, "", 5.1)).broken


def test_what_cannot_happen_any_more_dooms_a_goal(scene):
    formula = "F (holding(red block) & holding(green block))"
    assert verdicts(watching(scene, formula).see(scene)) == [Verdict.DOOMED]


def test_without_constraints_nothing_is_kept(scene):
    watch = watch_for([], scene)
    assert watch.see(scene) is watch


def test_a_proposition_that_no_scene_can_show_is_refused(scene):
    with pytest.raises(InputError, match="'a' is not a proposition"):
        watching(scene, "F a")


def test_a_thing_that_is_not_there_cannot_be_watched(scene):
    with pytest.raises(InputError, match="names 'vase', which is not here"):
        check_watchable([constraint("G !holding(vase)")], scene)


def test_a_robot_that_nobody_measures_cannot_be_watched(scene):
    near = [constraint("G !near(robot, red block)")]
    with pytest.raises(InputError, match="cannot be watched: nothing measures where the robot is"):
        check_watchable(near, scene)
    check_watchable(near, replace(scene, robot=Pose((0.3, 0.0, 0.4))))


def test_a_measured_constraint_has_a_margin_and_others_have_none(scene):
    above = Moment(replace(scene, robot=Pose((0.55, 0.25, 0.24)), speed=0.15))
    assert margin(parse("G distance(robot, red block) > 0.05"), above) == pytest.approx(0.15)
    assert margin(parse("G (speed(robot) < 0.2 & distance(robot, red block) > 0.05)"), above) == pytest.approx(0.05)
    assert margin(parse("G distance(robot, red block) > 0.3"), above) == pytest.approx(-0.1)
    assert margin(parse("G !near(robot, red block)"), above) == pytest.approx(0.1)
    for without in ("G !holding(red block)", "G distance(robot, vase) > 0.1", "X speed(robot) < 0.2"):
        assert isnan(margin(parse(without), above))
