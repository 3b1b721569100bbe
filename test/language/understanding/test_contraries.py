"""To put down is not to hold, and to wait first is not to stay where one goes then."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.contraries import check_contraries
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

MUG = SceneObject("mug", "mug", "", (0.4, 0, 0.07), IDENTITY, (0.07, 0.07, 0.14))
SCENE = Scene(0.0, (MUG,))


def check(formula: str, words: str) -> None:
    check_contraries(Constraint(parse(formula), words, goal=True), SCENE)


@pytest.mark.parametrize("words", ["put the mug down", "Set down the mug, then go", "release it", "let go of the mug"])
def test_to_put_down_is_not_to_hold(words):
    with pytest.raises(InputError, match=r"“.*” says '(put|set|release|let).*', but .* asks for it to be held"):
        check("F (holding(mug) & F in(robot, lab))", words)


@pytest.mark.parametrize("words", ["wait 20 s and then put the mug there", "hold on for 20 seconds", "Pause 20 s"])
def test_to_wait_first_is_not_to_stay(words):
    with pytest.raises(InputError, match=r"says '(wait|hold on|pause)' of what comes first, but .* of what comes then"):
        check("F G[0,20] at(mug, left side)", words)


def test_to_wait_first_is_no_haste():
    with pytest.raises(InputError, match=r"says 'wait' of what comes first, but .* of what comes then"):
        check("F[0,20] at(mug, left side)", "wait 20 s, then put the mug on the left side")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("F !holding(mug)", "put the mug down"),
        ("F (holding(mug) & F !holding(mug))", "pick it up and put it down"),
        ("F (holding(mug) & F in(mug, lab))", "take the mug and set it down in the lab"),
        ("F in(mug, lab)", "put the mug down in the lab"),
        ("F G[0,20] near(robot, mug)", "wait near the mug for 20 s"),
        ("F G[0,20] in(robot, lab)", "wait there for 20 s"),
        ("G[0,20] !holding(mug)", "wait 20 s before you take the mug"),
    ],
)
def test_what_was_said_passes(formula, words):
    check(formula, words)
