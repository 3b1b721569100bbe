"""Of how many things a reading speaks."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.scope import check_scope
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

NAMES = ("red block", "mug", "vase")
SCENE = Scene(0.0, tuple(SceneObject(name, "thing", "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name in NAMES))


@pytest.mark.parametrize("words", ["you carry nothing but the mug", "no other thing except the mug is to be lifted"])
def test_what_is_spared_may_not_be_all_that_is_forbidden(words):
    with pytest.raises(InputError, match=r"“.*” spares what G !holding\(mug\) forbids"):
        check_scope(Constraint(parse("G !holding(mug)"), words), SCENE)


def test_nothing_is_more_than_one_thing():
    with pytest.raises(InputError, match=r"“nothing is lifted first” speaks of all things, but !holding.* of one"):
        check_scope(Constraint(parse("!holding(mug) W moved(vase)"), "nothing is lifted first"), SCENE)


def test_it_is_one_thing():
    with pytest.raises(InputError, match=r"“don't go too close to it” speaks of one thing, but G .* of several"):
        check_scope(Constraint(parse("G !(near(robot, mug) | near(robot, vase))"), "don't go too close to it"), SCENE)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("G !(holding(vase) | holding(red block))", "you carry nothing but the mug"),
        ("G !near(robot, vase)", "don't go too close to it"),
        ("G !(near(robot, mug) | near(robot, vase))", "don't go near it or any of the others"),
        ("G (holding(mug) -> !near(robot, vase))", "while you hold it keep away from the vase"),
        ("!holding(mug) W in(red block, vase)", "nothing is lifted first"),
        ("G !holding(mug)", "nothing happens to the mug"),
        ("G !in(robot, hall)", "nothing but trouble in the hall"),
    ],
)
def test_all_else_passes(formula, words):
    check_scope(Constraint(parse(formula), words), SCENE)
