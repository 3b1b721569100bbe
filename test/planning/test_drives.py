"""Programs for an arm on a mobile base: a drive that is lacking is put in, and only where it is lacking."""

from __future__ import annotations

import pytest

from llm_planner.corrections.editing import edited
from llm_planner.corrections.edits import Edit, Rebind
from llm_planner.errors import QuestionError
from llm_planner.language.embedded.model import load_model
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.planning.repair import with_drives
from llm_planner.programs.checker import check_program
from llm_planner.programs.problems import ProgramError
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.driven_base import driven_to
from llm_planner.scene.places import BEHIND
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.world import World
from llm_planner.skills.library import load_skills
from llm_planner.skills.mobile_arm import parking

SKILLS = load_skills(learned=False)


@pytest.fixture(scope="module")
def scene():
    """Scene with the block and the mug on the left table, and the bowl on the right one."""
    return TwoTables(12, parse_objects("mug, blue bowl, red block"), arm=arm_model("mobile_ur5e")).scene()


def driven(text, scene):
    program = check_program(text, SKILLS.for_scene(scene).signatures, scene)
    return with_drives(program, scene, BEHIND).text.split("\n")[:-1]


def test_a_drive_is_put_before_what_is_out_of_reach(scene):
    assert driven('pick("red block")\nplace_in("blue bowl")\n', scene) == [
        "approach('red block')", "pick('red block')", "approach('blue bowl')", "place_in('blue bowl')",
    ]  # fmt: skip


def test_a_program_with_its_drives_stays_as_it_is(scene):
    text = 'approach("red block")  # first\npick("red block")\napproach("blue bowl")\nplace_in("blue bowl")\n'
    assert driven(text, scene) == text.split("\n")[:-1]


def test_a_thing_that_is_within_reach_needs_no_drive(scene):
    there = driven_to(scene, parking(scene, "red block").pose)
    assert driven('pick("red block")\n', there) == ['pick("red block")']


def test_a_drive_in_a_loop_goes_to_the_thing_of_each_turn(scene):
    text = 'for thing in ["red block", "mug"]:\n    pick(thing)\n    place_on("right table")\n'
    assert driven(text, scene)[1:3] == ["    approach(thing)", "    pick(thing)"]


def test_what_no_single_place_reaches_is_a_question_without_drives_in_a_circle(scene):
    text = 'stack("red block", "blue bowl")\n'
    assert len(driven(text, scene)) == 3
    with pytest.raises((ProgramError, QuestionError), match="the red block is out of reach"):
        plan_program("", text, scene, SKILLS.for_scene(scene).signatures)


def test_a_program_for_an_arm_that_stands_fixed_is_left_alone():
    fixed = World(0, parse_objects("red block")).scene()
    assert driven('pick("red block")\n', fixed) == ['pick("red block")']


def test_the_plan_shows_the_drives_and_where_the_thing_comes_to_lie(scene):
    skills = SKILLS.for_scene(scene).signatures
    planned = plan_program("", 'pick("red block")\nplace_on("right table")\n', scene, skills)
    assert [step.skill for step in planned.plan.steps] == ["approach", "pick", "approach", "place_on"]
    assert [goal.sentence() for goal in planned.plan.goals] == ["the red block is on the right table"]


def under_way(play, scene, program, step):
    """The plan of a program with its step of that number under way, predicted up to there."""
    skills = {skill.name: skill for skill in SKILLS.for_scene(scene).signatures}
    told = play(program, where=scene, skills=skills)
    told.observe()
    while told.statuses[step] != "running":
        told.step()
    return told


def rest_after(told, *operations):
    """The steps that are left after an edit."""
    after = edited(told.state, Edit(operations, version=told.state.version)).state
    return [str(step) for step in after.plan.steps if step.status.value in ("running", "pending")]


def test_an_edit_gets_the_drive_that_it_takes(play, scene):
    told = under_way(play, scene, 'pick("red block")\nplace_on("right table")\n', "4")
    assert rest_after(told, Rebind("4", "object", "left table")) == [
        'approach("left table")', 'place_on("left table")',
    ]  # fmt: skip


def test_the_table_that_a_thing_is_fetched_from_needs_no_step(scene):
    words = "fetch the blue bowl from the right table and put it on the left table"
    planned = plan_command(words, scene, SKILLS.for_scene(scene).signatures, load_model())
    assert [step.skill for step in planned.plan.steps] == ["approach", "pick", "approach", "place_on"]
