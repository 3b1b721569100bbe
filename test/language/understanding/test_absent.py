"""Rules about things that are not here."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.understanding.absent import check_here
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

THINGS = (("red block", "block"), ("mug", "mug"), ("water bottle", "bottle"))
SCENE = Scene(0.0, tuple(SceneObject(name, kind, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name, kind in THINGS))


@pytest.mark.parametrize(
    "words", ["never reach over the vase", "keep off the plates", "not near my teapot", "stay away from the cat"]
)
def test_a_thing_of_which_there_is_none_is_told(words):
    with pytest.raises(QuestionError, match=r"I see no (vase|plate|teapot|cat) here. What do you mean by “.*”\?"):
        check_here(words, SCENE)


@pytest.mark.parametrize(
    "words",
    [
        "never reach over the red block",
        "not over the cube",  # another word for a block
        "do not tip the cup",  # for a mug
        "mind the bottle",
        "the cat is asleep, so keep off the red block",
        "in the order that I said, if you can",
    ],
)
def test_what_is_here_by_whatever_word_passes(words):
    check_here(words, SCENE)
