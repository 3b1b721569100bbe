"""A distance is kept on the side that was said, and from the thing that was said, or it is asked about."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.distances import check_distances
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

SCENE = Scene(
    0.0,
    tuple(SceneObject(name, name.split()[-1], "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name in ("vase", "mug")),
)
FAR, CLOSE = "distance(robot, vase) > 0.15", "distance(robot, vase) < 0.15"


def check(formula: str, words: str) -> None:
    check_distances(Constraint(parse(formula), words), SCENE)


@pytest.mark.parametrize("formula", [f"G {FAR}", f"G !{CLOSE}", f"G (holding(mug) -> {FAR})", f"{FAR} W holding(mug)"])
@pytest.mark.parametrize(
    "words",
    [
        "stay at most 15 cm away from the vase",
        "stay within 15 cm of the vase",
        "no farther than 15 cm from the vase",
        "never go further away from the vase than 15 cm",
        "closer than 15 cm to the vase, please",
        "keep from the vase 15 cm at most",
        "do not touch the mug, and keep within 15 cm of the vase",
        "from the vase 15 cm or less",
    ],
)
def test_the_most_is_not_read_as_the_least(formula, words):
    with pytest.raises(InputError, match=r"“.*” says '15 cm' as the most, but .* as the least of a distance"):
        check(formula, words)


@pytest.mark.parametrize("words", ["at least 15 cm from the vase", "never closer than 15 cm to the vase"])
@pytest.mark.parametrize("formula", [f"F {CLOSE}", f"G (!{FAR} & !holding(mug))", f"holding(mug) R {CLOSE}"])
def test_the_least_is_not_read_as_the_most(formula, words):
    with pytest.raises(InputError, match=r"“.*” says '15 cm' as the least, but .* as the most of a distance"):
        check(formula, words)


@pytest.mark.parametrize(
    "words",
    [
        "never closer than 15 cm to the vase",
        "do not get within 15 cm of the vase",
        "stay out of it within 15 cm of the vase",
        "coming within 15 cm of the vase is forbidden",
        "stay at least 15 cm from the vase",
        "stay more than 15 cm away from the vase",
        "stay 15 cm away from the vase",
        "no less than 15 cm from it, under 10 cm/s",
    ],
)
def test_a_least_distance_as_it_was_said_passes(words):
    check(f"G {FAR}", words)


def test_both_sides_are_held_against_their_own_bounds():
    check(f"G ({FAR} & distance(robot, vase) < 0.3)", "at least 15 cm and at most 30 cm from the vase")
    check(f"G ({CLOSE} -> speed(robot) < 0.1)", "when within 15 cm of the vase under 0.1 m/s")


def test_a_distance_is_from_the_thing_that_was_said():
    with pytest.raises(InputError, match=r"“.*” sets a distance from 'vase', but .* does not"):
        check("G distance(robot, mug) > 0.15", "stay 15 cm away from the vase")


def test_a_distance_from_nothing_that_was_said_is_refused():
    with pytest.raises(InputError, match=r"“staying at least 15 cm” does not say from what, but .* does"):
        check(f"G {FAR}", "staying at least 15 cm")
