"""Formulas typed in place of a sentence."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.understand import typed, understand
from llm_planner.ltl.parser import FormulaError, parse
from llm_planner.scene.scene import Scene


class Nobody:
    """A model that must not be asked."""

    name = "nobody"
    chooses = False
    is_large = False
    guess = None


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("F(a & b)", True),
        ("G(a -> F b)", False),
        ("G !a | c", False),
        ("!a W b", False),
        ("a U b", True),
        ("F a", True),
        ("F[0,10] a", True),
        ("G a", False),
        ("G[0,9] (a -> !b)", False),
        ("G[5,9] a", False),
        ("G F a", True),
        ("[] !(a | b)", False),
        ("<>(a & b)", True),
        ("◇ (a & b)", True),
        ("G ~a", False),
        ("a => F b", False),
    ],
)
def test_a_formula_is_taken_at_its_word(text, goal):
    understood = understand(text, Scene(0.0, ()), Nobody(), propositions=("a", "b", "c"))
    assert understood.task == ""
    (constraint,) = understood.constraints
    assert (constraint.formula, constraint.goal, constraint.words) == (parse(text), goal, text)


@pytest.mark.parametrize("text", ["stack the blocks, G !holding(vase)", "go to the lab and F in(robot, hall)"])
def test_a_formula_within_a_sentence_is_told(text):
    with pytest.raises(InputError, match="mixes a sentence with a formula; say all of it in words, or give the form"):
        typed(text)


def test_what_is_joined_is_a_goal_or_a_rule_each():
    understood = understand("F a & G !b & F[0,9] c", Scene(0.0, ()), Nobody(), propositions=("a", "b", "c"))
    said = {(str(one.formula), one.words, one.goal) for one in understood.constraints}
    assert said == {("F a", "F a", True), ("G !b", "G !b", False), ("F[0,9] c", "F[0,9] c", True)}


@pytest.mark.parametrize("text", ["F(a & & b)", "G(a -> )", "!a W", "F[10 a", "FG a", "GF (a)"])
def test_what_looks_like_a_formula_and_is_none_is_told(text):
    with pytest.raises(FormulaError):
        typed(text)


@pytest.mark.parametrize(
    "text",
    ["put the red & the blue block away", "hands off! put it back", "stop", "go to the lab (and stay there)", "Plan B"],
)
def test_sentences_are_no_formulas(text):
    assert typed(text) is None
