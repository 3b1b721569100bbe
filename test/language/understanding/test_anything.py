"""Holding any of all things."""

import pytest

from llm_planner.language.understanding.equivalence import in_general
from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

KINDS = (("mug", "mug"), ("book", "book"), ("Ben", "person"))
SCENE = Scene(0.0, tuple(SceneObject(name, kind, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name, kind in KINDS))


@pytest.mark.parametrize(
    ("formula", "general"),
    [
        ("G !(holding(book) | holding(mug))", "G !holding(anything)"),
        ("G (holding(mug) | holding(book) -> !in(robot, lab))", "G (holding(anything) -> !in(robot, lab))"),
        ("F (holding(book) | holding(mug) | near(robot, Ben))", "F (holding(anything) | near(robot, Ben))"),
        ("G !holding(book)", "G !holding(book)"),
        ("F (holding(book) & holding(mug))", "F (holding(book) & holding(mug))"),
    ],
)
def test_all_that_can_be_held_is_anything(formula, general):
    assert in_general(parse(formula), SCENE) is parse(general)


def test_where_there_is_but_one_thing_it_is_named():
    alone = Scene(0.0, SCENE.objects[:1])
    assert in_general(parse("G !holding(mug)"), alone) is parse("G !holding(mug)")
