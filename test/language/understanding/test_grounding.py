"""A reading must have a meaning in the scene, and speak of all that its own words name."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.model import ReadConstraint, Reading
from llm_planner.language.understanding.grounding import ground
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject

NAMES = ("lab", "dark lab", "hall")
SCENE = Scene(
    0.0,
    (
        SceneObject("Ben", "person", "", (0, 0, 0), IDENTITY, (0.4, 0.4, 1.7)),
        SceneObject("vase", "vase", "", (1, 1, 0), IDENTITY, (0.1, 0.1, 0.2)),
    ),
    building=Building(tuple(Room(n, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, n in enumerate(NAMES)), ()),
)


def said(formula, words, goal=False, **more):
    return Reading("", (ReadConstraint(formula, words, goal),), **more)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("G !near(robot, Ben)", "not near ben!"),
        ("G !near(robot, Ben)", "keep away from him"),
        ("F in(robot, dark lab)", "visit the dark lab"),
        ("F near(robot, Ben)", "benefit from labels"),
        ("G speed(robot) < 0.2", "at most 0.2 m/s"),
        ("G speed(robot) < 0.2", "not faster than 20 cm per second"),
        ("G speed(robot) < 2", "bleib unter 7,2 km/h"),
        ("G distance(robot, vase) > 0.2", "stay 20 cm off the vase"),
        ("F[0,90] in(robot, lab)", "be in the lab within 1.5 minutes"),
        ("F did(wait, lab)", "wait 5 s in the lab"),
    ],
)
def test_words_whose_names_and_amounts_are_in_the_formula_pass(formula, words):
    (constraint,) = ground(said(formula, words), SCENE).constraints
    assert (constraint.formula, constraint.words) == (parse(formula), words)


LOST = [
    ("G !near(robot, Ben)", "after the lab, not near Ben", r"“.*” speaks of 'lab', but G !near\(robot, Ben\) does not"),
    ("G speed(robot) < 0.3", "at most 0.2 m/s", r"“at most 0.2 m/s” says 0.2, but .* has no such bound"),
    ("F[0,90] in(robot, lab)", "be in the lab within 60 s", "says 60"),
]


@pytest.mark.parametrize(("formula", "words", "problem"), LOST)
def test_words_whose_names_or_amounts_are_not_in_the_formula_are_refused(formula, words, problem):
    with pytest.raises(InputError, match=problem):
        ground(said(formula, words), SCENE)


@pytest.mark.parametrize(("formula", "words", "problem"), LOST)
def test_a_model_that_has_accounted_for_each_word_is_believed(formula, words, problem):
    with pytest.raises(InputError, match=problem):
        ground(said(formula, words), SCENE, insisted=True)
    assert ground(said(formula, words, whole=True), SCENE).constraints


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("G !near(robot, teapot)", "names 'teapot', which is not here"),
        ("G (", "cannot read the formula"),
        ("G (near(robot, Ben) | !near(robot, Ben))", "must rule something out"),
        ("G in(robot, lab)", "demands at once what is not so now"),
    ],
)
def test_what_has_no_meaning_here_is_refused(formula, problem):
    with pytest.raises(InputError, match=problem):
        ground(said(formula, "as I say", whole=True), SCENE)


def test_a_goal_that_is_a_speed_is_refused():
    with pytest.raises(InputError, match="makes a speed part of a goal"):
        ground(said("F speed(robot) > 0.2", "be fast once", goal=True), SCENE)


def test_bare_propositions_are_the_only_ones():
    assert ground(said("G !p", "no p"), SCENE, ("p", "q")).constraints
    with pytest.raises(InputError, match="'r' in G !r is none of the propositions: p, q"):
        ground(said("G !r", "no r"), SCENE, ("p", "q"))


def test_a_question_is_passed_on():
    assert ground(Reading(question="Which vase?"), SCENE).question == "Which vase?"


def test_a_reading_of_nothing_is_refused():
    with pytest.raises(InputError, match="neither a task nor a constraint"):
        ground(Reading(), SCENE)
