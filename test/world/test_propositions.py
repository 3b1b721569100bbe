"""What a formula may say of a scene."""

import pytest

from llm_planner.errors import InputError
from llm_planner.world.propositions import check_proposition, parse_proposition
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

SCENE = Scene(0.0, tuple(SceneObject(name, name, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name in ("mug", "vase")))


@pytest.mark.parametrize("text", ["near(mug, vase)", "over(mug, vase)", "distance(mug, vase) > 1", "speed(mug) < 1"])
def test_what_is_known_of_the_robot_only_is_not_said_of_things(text):
    with pytest.raises(InputError, match=r"speaks of 'mug', but \w+ is known of the robot only: write \w+\(robot"):
        check_proposition(parse_proposition(text), SCENE)


@pytest.mark.parametrize(
    "text",
    ["near(robot, vase)", "over(robot, vase)", "distance(robot, vase) > 1", "speed(robot) < 1", "beside(mug, vase)"],
)
def test_the_robot_and_relations_of_things_may_be_spoken_of(text):
    check_proposition(parse_proposition(text), SCENE)
