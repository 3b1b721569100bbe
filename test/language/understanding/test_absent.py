"""Rules about things that are not here."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.understanding.absent import check_here
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

THINGS = (("red block", "block"), ("mug", "mug"), ("water bottle", "bottle"))
SCENE = Scene(0.0, tuple(SceneObject(name, kind, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name, kind in THINGS))


@pytest.mark.parametrize(
    "words",
    [
        "never reach over the vase",
        "bring the red vase",
        "keep off the plates",
        "not near my teapot",
        "stay away from the cat",
    ],
)
def test_a_thing_of_which_there_is_none_is_told(words):
    with pytest.raises(QuestionError, match=r"I see no (vase|plate|teapot|cat) here. What do you mean by “.*”\?"):
        check_here(words, SCENE)


PARCELS = tuple((f"{color} parcel", "parcel", color) for color in ("blue", "yellow"))
ROOMS = Scene(
    0.0,
    tuple(
        SceneObject(name, kind, color, (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1))
        for name, kind, color in (*PARCELS, ("mug", "mug", ""))
    ),
)


@pytest.mark.parametrize("thing", ["the red parcel", "a red parcel", "the violet box", "red packages"])
def test_a_thing_of_which_there_is_none_of_that_colour_is_told(thing):
    with pytest.raises(
        QuestionError, match=r"I see no .* here, but the blue parcel and the yellow parcel\. What do you"
    ):
        check_here(f"bring {thing} to the kitchen", ROOMS)


@pytest.mark.parametrize("words", ["bring the blue box", "bring the red mug", "meet Ben in the red hall"])
def test_a_colour_that_is_here_or_of_nobody_knows_what_passes(words):
    check_here(words, ROOMS)


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
