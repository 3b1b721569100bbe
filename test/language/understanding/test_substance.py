"""A rule must rule something out, and must not be lost before anything has moved."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.grounding import check_present, check_reachable, check_substance
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Pose, Room, Scene

SCENE = Scene(
    0.0,
    (),
    robot=Pose((2.0, 2.0, 0.0)),
    building=Building(tuple(Room(n, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, n in enumerate(("lab", "hall"))), ()),
)


def constraint(formula: str, words: str = "so be it") -> Constraint:
    return Constraint(parse(formula), words)


@pytest.mark.parametrize("formula", ["true", "!a W a", "G (a -> a)"])
def test_a_rule_that_every_run_keeps_is_refused(formula):
    with pytest.raises(InputError, match="“so be it” must rule something out, but every run keeps "):
        check_substance(constraint(formula))


def test_a_rule_without_words_is_refused():
    with pytest.raises(InputError, match="G !a stands for no words of the command"):
        check_substance(constraint("G !a", " "))


@pytest.mark.parametrize("formula", ["G in(robot, hall)", "in(robot, hall) U did(look, lab)", "in(robot, hall)"])
def test_a_rule_that_demands_at_once_what_is_not_so_is_refused(formula):
    with pytest.raises(InputError, match=r"“so be it” as .* demands at once what is not so now"):
        check_present(constraint(formula), SCENE)


@pytest.mark.parametrize(
    "formula", ["G in(robot, lab)", "F in(robot, hall)", "G !in(robot, lab)", "!in(robot, hall) W a"]
)
def test_what_may_yet_be_and_what_is_forbidden_already_pass(formula):
    check_substance(constraint(formula))
    check_present(constraint("G in(robot, lab)"), SCENE)


def test_a_speed_is_no_goal_but_may_be_a_limit():
    for formula in ("F speed(robot) > 5", "F (in(robot, hall) & speed(robot) < 0.3)"):
        with pytest.raises(
            InputError, match=r"“fast” makes a speed part of a goal, but .* watched, not planned for; say"
        ):
            check_reachable(Constraint(parse(formula), "fast", goal=True))
    check_reachable(constraint("G speed(robot) < 0.3"))
    check_reachable(Constraint(parse("F in(robot, hall)"), "go", goal=True))
