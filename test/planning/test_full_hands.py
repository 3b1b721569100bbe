"""What is said to a robot that holds something in the way of what is asked for."""

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.planning.planning import plan_command
from llm_planner.skills.library import load_skills

COMMAND = "put the blue block in the blue bowl"


@pytest.fixture
def planned(scene, listed_model):
    skills = load_skills().for_scene(scene).signatures
    model = listed_model({COMMAND: 'put("the blue block", in("the blue bowl"))', "sing a song": "unclear"})
    return lambda command, held: plan_command(command, replace(scene, held=held), skills, model).plan


def test_where_only_what_is_held_is_in_the_way_that_is_what_the_person_hears(planned):
    assert [step.skill for step in planned(COMMAND, "").steps] == ["pick", "place_in"]
    with pytest.raises(QuestionError, match=r"^I hold the red block\. First say where to put it, for instance “put it"):
        planned(COMMAND, "red block")


def test_words_that_mean_nothing_either_way_are_asked_about_as_ever(planned):
    with pytest.raises(QuestionError, match="did not understand"):
        planned("sing a song", "red block")
