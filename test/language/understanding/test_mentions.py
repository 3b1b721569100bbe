"""A reading must speak of what it claims to stand for."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.mentions import check_conditions, check_names, check_negation
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.building import Building, Room
from llm_planner.world.places import Rectangle
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

NAMES = ("lab", "dark lab", "hall")
SCENE = Scene(
    0.0,
    (SceneObject("Ben", "person", "", (0, 0, 0), IDENTITY, (0.4, 0.4, 1.7)),),
    building=Building(tuple(Room(n, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, n in enumerate(NAMES)), ()),
)


def constraint(formula: str, words: str) -> Constraint:
    return Constraint(parse(formula), words)


def test_a_formula_without_a_thing_that_is_named_is_refused():
    with pytest.raises(
        InputError, match=r"“after the lab, not near Ben” speaks of 'lab', but G !near\(robot, Ben\) does"
    ):
        check_names(constraint("G !near(robot, Ben)", "after the lab, not near Ben"), SCENE)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("G !near(robot, Ben)", "not near ben!"),
        ("G !near(robot, Ben)", "keep away from him"),
        ("F in(robot, hall)", "visit every room except the lab and the dark lab"),
        ("G !in(robot, lab)", "anywhere but the lab"),
        ("F in(robot, dark lab)", "visit the dark lab"),
        ("F near(robot, Ben)", "benefit from labels"),
    ],
)
def test_a_formula_that_speaks_of_all_that_is_named_passes(formula, words):
    check_names(constraint(formula, words), SCENE)


def test_a_condition_within_the_task_must_be_in_a_constraint():
    with pytest.raises(InputError, match=r"has a condition \('never'\) that is in no constraint; make it one"):
        check_conditions("go to the lab, never to the hall", ())
    check_conditions("go, never to the hall", (constraint("G !in(robot, hall)", "never to the hall"),))


def test_a_task_may_choose_its_things_by_what_they_are_not():
    check_conditions("put everything that is not a bowl into the basket", ())


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("F (a & F (b & F c))", "visit a then b but never c"),
        ("F in(robot, lab)", "don't you dare go to the lab"),
        ("F holding(mug) | F holding(vase)", "you may not take the mug or the vase"),
    ],
)
def test_a_formula_that_lost_a_negation_is_refused(formula, words):
    with pytest.raises(InputError, match=r"“.*” says '.*', but F .* forbids nothing"):
        check_negation(constraint(formula, words))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("F a & G !c", "visit a but never c"),
        ("!b U a", "do not visit b until a"),
        ("G speed(robot) < 0.2", "never faster than 0.2 m/s"),
        ("F a", "do not visit a less than once"),
        ("F a & F b", "do not stop before you have seen a and b"),
        ("F a & F b", "visit a and b in no particular order"),
        ("F a", "you do not need to hurry, but go to a"),
    ],
)
def test_a_formula_that_forbids_or_need_not_passes(formula, words):
    check_negation(constraint(formula, words))
