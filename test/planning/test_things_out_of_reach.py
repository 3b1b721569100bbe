"""A plan for a thing that the arm cannot get to is asked about before anything moves."""

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.planning.planning import plan_program
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.library import load_skills

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
BLOCK = SceneObject("red block", "block", "red", (0.2, 0.0, 0.01), UPRIGHT, (0.02, 0.02, 0.02))
BOWL = SceneObject("green bowl", "bowl", "green", (0.18, 0.12, 0.011), UPRIGHT, (0.065, 0.065, 0.0225))
TABLE = Scene(0.0, (BLOCK, BOWL), arm="so_arm", workspace=arm_model("so_arm").shape.workspace)
PROGRAM = 'pick("red block")\nplace_in("green bowl")'


def planned(scene):
    return plan_program("put the red block in the green bowl", PROGRAM, scene, load_skills().signatures).plan


def test_what_is_within_reach_is_planned():
    assert [step.skill for step in planned(TABLE).steps] == ["pick", "place_in"]


@pytest.mark.parametrize(("thing", "name"), [(BLOCK, "red block"), (BOWL, "green bowl")])
def test_the_question_names_the_thing_its_distance_and_the_reach(thing, name):
    away = TABLE.with_object(replace(thing, position=(0.5, 0.0, thing.position[2])))
    told = (
        rf"The {name} at \(0\.50, 0\.00\) is out of reach: the arm reaches 0\.155 to 0\.268 m from its base in front "
        r"of it, and that is 0\.50 m away"
    )
    with pytest.raises(QuestionError, match=told):
        planned(away)


def test_the_same_thing_is_within_reach_of_a_large_arm():
    far = replace(TABLE.with_object(replace(BLOCK, position=(0.5, 0.0, 0.01))), arm="ur5e")
    bowl = replace(BOWL, position=(0.5, 0.2, BOWL.position[2]))
    assert planned(replace(far.with_object(bowl), workspace=arm_model("ur5e").shape.workspace)).steps
