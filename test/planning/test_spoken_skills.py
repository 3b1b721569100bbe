"""What constraints may say that the robot has done, and skills of one's own without effects under a rule."""

from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.language.embedded.model import load_model
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planned import ImpossibleError
from llm_planner.planning.planning import plan_command
from llm_planner.planning.program_checks import check_skills
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills

SKILLS = (
    Signature("go_to", (Parameter("destination", "destination"),)),
    Signature("look", ()),
    Signature("wait", (Parameter("seconds", "number"),)),
)


def check(formula):
    check_skills([Constraint(parse(formula), formula)], SKILLS)


def test_a_skill_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(InputError, match=r"'did\(fly, lab\)': this robot has no skill fly; it has: go_to, look, wait"):
        check("G (in(robot, lab) -> !did(fly, lab))")


def test_a_skill_that_takes_no_thing_is_told():
    with pytest.raises(
        InputError,
        match=r"'did\(wait, lab\)': wait\(seconds\) is not done with 'lab' in the first place; did\(...\) can speak "
        "of: go_to, look",
    ):
        check("F did(wait, lab)")


@pytest.mark.parametrize("formula", ["F did(go_to, lab)", "F did(look, lab)", "F in(robot, lab)"])
def test_what_can_be_done_may_be_spoken_of(formula):
    check(formula)


@pytest.mark.parametrize(
    "words",
    [
        "point at the vase, then pick up the red block, but never reach over the vase",
        "point at the vase, but never reach over the vase",
    ],
)
def test_a_step_without_effects_that_breaks_a_rule_is_refused_and_not_left_out(words):
    scene = open_world("tabletop", 1, read_objects("tabletop", "red block, vase"), None).scene()
    skills = load_skills(Path(__file__).parents[2] / "examples" / "skills", learned=False).for_scene(scene).signatures
    with pytest.raises(ImpossibleError, match=r'Step 1, point_at\("vase"\), may not start'):
        plan_command(words, scene, skills, load_model())


def test_a_step_without_effects_keeps_its_place_in_a_plan_that_is_searched_anew():
    words = (
        "go to the kitchen, wait 5 seconds, then go to the lab, but do not enter the lab before you have been in the "
    )
    words += "office"
    scene = open_world("rooms", 13, read_objects("rooms", "mug, Anna"), 10).scene()
    planned = plan_command(words, scene, load_skills(learned=False).for_scene(scene).signatures, load_model())
    calls = [(step.skill, *step.arguments.values()) for step in planned.plan.steps]
    there = [calls.index(call) for call in (("go_to", "kitchen"), ("wait", 5.0), ("go_to", "office"), ("go_to", "lab"))]
    assert calls.index(("wait", 5.0)) > there[0]
    assert there[2] < there[3] == len(calls) - 1
    assert there[1] < there[3]
