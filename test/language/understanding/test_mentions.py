"""A reading must speak of what it claims to stand for."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.mentions import check_amounts, check_conditions, check_names, check_people
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


def test_only_the_last_name_before_a_correction_is_taken_back():
    with pytest.raises(InputError, match="speaks of 'dark lab'"):
        check_names(constraint("F in(robot, hall)", "to the dark lab and the lab, no, sorry, the hall"), SCENE)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("G !near(robot, Ben)", "not near ben!"),
        ("G !near(robot, Ben)", "keep away from him"),
        ("F in(robot, hall)", "visit every room except the lab and the dark lab"),
        ("G !in(robot, lab)", "anywhere but the lab"),
        ("F in(robot, hall)", "go to the lab, no, the hall"),
        ("F in(robot, hall)", "go to the dark lab - no wait, I mean the hall"),
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
    "task",
    [
        "put the mug down but not before the bowl is empty",
        "put it back as soon as you can see it",
        "nothing but blocks",
    ],
)
def test_conditions_of_more_than_one_word_are_known(task):
    with pytest.raises(InputError, match=r"has a condition \('.*'\) that is in no constraint; make it one"):
        check_conditions(task, ())


@pytest.mark.parametrize(
    ("formula", "words", "what"),
    [
        ("G height(vase) < 0.2", "0.2 m/s is enough", r"a speed \('m/s'\)"),
        ("G !near(robot, vase)", "never faster near the vase", r"a speed \('faster'\)"),
        ("G !near(robot, vase)", "stay 20 cm off the vase", r"a length \('0 cm'\)"),
        ("F in(robot, lab)", "be in the lab within 90 seconds", r"a time \('0 seconds'\)"),
    ],
)
def test_a_formula_without_the_amount_that_is_named_is_refused(formula, words, what):
    with pytest.raises(InputError, match=rf"“.*” speaks of {what}, but .* does not"):
        check_amounts(constraint(formula, words))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("G speed(robot) < 0.2", "at most 0.2 m/s"),
        ("G speed(robot) < 0.2", "not faster than 20 cm per second"),
        ("G distance(robot, vase) > 0.2", "stay 20 cm off the vase"),
        ("F[0,90] in(robot, lab)", "be in the lab within 90 seconds"),
        ("F did(wait, lab)", "wait 5 s in the lab"),
    ],
)
def test_a_formula_with_the_amount_passes(formula, words):
    check_amounts(constraint(formula, words))


def test_a_formula_that_forgets_people_is_refused():
    with pytest.raises(InputError, match=r"“keep away from people” speaks of people \('people'\), but .* does not"):
        check_people(constraint("G !near(robot, vase)", "keep away from people"), SCENE)
    check_people(constraint("G !near(robot, Ben)", "keep away from people"), SCENE)
