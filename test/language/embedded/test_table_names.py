"""Words about the tables of an arm that drives, which the network was not trained with."""

from __future__ import annotations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.model import load_model
from llm_planner.language.embedded.reader import TableNames
from llm_planner.language.model import ProgramRequest
from llm_planner.robots.arm_model import arm_model
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.world import World
from llm_planner.skills.library import load_skills

SKILLS = load_skills(learned=False)
OBJECTS = parse_objects("red block, white bowl, mug")


@pytest.fixture(scope="module")
def scene():
    return TwoTables(0, OBJECTS, arm=arm_model("mobile_ur5e")).scene()


def written(words, scene):
    skills = SKILLS.for_scene(scene).signatures
    reply = load_model().write_program(ProgramRequest(words, scene, skills=skills))
    return reply.program.splitlines(), reply.question


def test_each_table_is_a_tray_of_a_colour_that_nothing_else_has(scene):
    trays = TableNames.of(scene).trays
    assert list(trays) == ["left table", "right table"]
    assert all("white" not in tray for tray in trays.values())
    assert len(set(trays.values())) == 2


def test_names_go_to_the_network_and_come_back(scene):
    names = TableNames.of(scene)
    assert names.restored(names.spoken("put the mug on the Left Table")) == "put the mug on the left table"


def test_a_table_without_its_name_is_a_question(scene):
    with pytest.raises(QuestionError, match=r"Which table do you mean\? I see: left table, right table"):
        TableNames.of(scene).spoken("put the mug on the table")


def test_the_one_table_of_a_fixed_arm_needs_no_name():
    fixed = World(0, OBJECTS).scene()
    assert TableNames.of(fixed).spoken("put the mug on the table") == "put the mug on the table"


@pytest.mark.parametrize(
    "words",
    [
        "put the red block on the right table",
        "bring the red block to the right table",
        "fetch the red block from the left table and put it on the right table",
    ],
)
def test_a_delivery_ends_on_the_table_that_was_named(words, scene):
    assert written(words, scene)[0] == ['pick("red block")', 'place_on("right table")']


def test_going_to_a_table_drives_there(scene):
    assert written("go to the right table", scene)[0] == ['approach("right table")']


def test_a_question_names_the_tables(scene):
    _, question = written("fnord the left table", scene)
    assert "tray" not in question
