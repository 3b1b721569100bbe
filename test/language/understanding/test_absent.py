"""Rules about things that are not here."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.understanding.absent import check_here
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

THINGS = (("red block", "block"), ("mug", "mug"), ("water bottle", "bottle"))
SCENE = Scene(0.0, tuple(SceneObject(name, kind, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name, kind in THINGS))


def rule(words: str) -> Constraint:
    return Constraint(parse("G !over(robot, red block)"), words)


@pytest.mark.parametrize("words", ["never reach over the vase", "keep off the plates", "not near my teapot"])
def test_a_thing_of_which_there_is_none_is_told(words):
    with pytest.raises(QuestionError, match=r"I see no (vase|plate|teapot) here. What do you mean by “.*”\?"):
        check_here(rule(words), SCENE)


@pytest.mark.parametrize(
    "words",
    [
        "never reach over the red block",
        "not over the cube",  # another word for a block
        "do not tip the cup",  # for a mug
        "mind the bottle",
        "in the order that I said, if you can",
    ],
)
def test_what_is_here_by_whatever_word_passes(words):
    check_here(rule(words), SCENE)
