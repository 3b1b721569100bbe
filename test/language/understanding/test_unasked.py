"""What a model puts in that nobody asked for is seen, and what the words may well mean is let be."""

from __future__ import annotations

import pytest

from llm_planner.language.understanding.constraint_checks import is_quoted, named_by, opposed, unnamed
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject


def thing(name: str, kind: str, color: str) -> SceneObject:
    return SceneObject(name, kind, color, (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))


SCENE = Scene(
    0.0, (thing("red block", "block", "red"), thing("blue block", "block", "blue"), thing("vase", "vase", ""))
)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("put the red block in the middle", ("blue block", "vase")),
        ("put the blocks in the middle", ("vase",)),
        ("put the blue one in the middle", ("red block", "vase")),
        ("put everything in the middle", ()),
        ("lege den roten Klotz in die Mitte", ()),  # no English
    ],
)
def test_a_thing_is_named_by_name_kind_or_colour_or_among_all(words: str, names: tuple[str, ...]) -> None:
    assert unnamed(SCENE.names, (words,), SCENE) == names


def test_what_was_said_before_counts() -> None:
    assert unnamed(("vase",), ("and put it back there", "pick the vase up"), SCENE) == ()


def test_words_of_a_constraint_are_the_commands() -> None:
    rule = Constraint(parse("G !near(robot, vase)"), "stay away from the vase", False)
    assert is_quoted(rule, "Take the mug but stay away from the vase!")
    assert not is_quoted(rule, "put the mug on the plate")
    assert named_by(rule, SCENE) == ("vase",)


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        ("never be in the lab for longer than 10 seconds", "F G[0,10] in(robot, lab)"),
        ("never stay in the lab longer than 5 seconds", "G[0,5] !in(robot, lab)"),
        ("be in the lab for at most 10 seconds", "F[0,10] in(robot, lab)"),
        ("keep away from Anna for 5 seconds", "F G[0,5] near(robot, Anna)"),
    ],
)
def test_a_formula_that_reverses_its_words_is_described(words: str, formula: str) -> None:
    assert [*opposed(parse(formula), words)]


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        ("never be in the lab for longer than 10 seconds", "G F[0,10] !in(robot, lab)"),
        ("never be in the lab for longer than 10 seconds", "G !G[0,10] in(robot, lab)"),
        ("keep away from Anna for 5 seconds", "G[0,5] !near(robot, Anna)"),
        ("never leave the lab", "G in(robot, lab)"),
        ("take no longer than 20 seconds to bring the mug to the lab", "F[0,20] in(mug, lab)"),
        ("do not come within 8 cm of the vase", "G distance(robot, vase) > 0.08"),
    ],
)
def test_a_formula_that_keeps_its_words_is_not(words: str, formula: str) -> None:
    assert not [*opposed(parse(formula), words)]
