"""What the prompts teach is so: their formulas parse, their propositions exist, their programs may run."""

from __future__ import annotations

import json
import re

import pytest

from llm_planner.language.model import ReadingRequest
from llm_planner.language.prompt import system_prompt
from llm_planner.language.reading_prompt import reading_messages
from llm_planner.ltl.parser import parse
from llm_planner.programs.checker import check_program
from llm_planner.scene.places import Rectangle, viewpoint
from llm_planner.scene.propositions import PREDICATES, SIGNALS, parse_proposition
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, Scene, SceneObject
from llm_planner.skills.library import load_skills


def thing(name: str, x: float, y: float) -> SceneObject:
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, 0.02), IDENTITY, (0.04, 0.04, 0.04))


TABLE = Scene(
    0.0, (thing("red block", 0.4, 0.0), thing("red bowl", 0.5, 0.2), thing("mug", 0.4, 0.2), thing("vase", 0.5, 0.0))
)
ROOMS = tuple(Room(name, Rectangle(k, k + 1.0, 0.0, 1.0)) for k, name in enumerate(("hall", "lab", "office")))
THINGS = (thing("parcel", 0.5, 0.5), thing("Anna", 0.5, 0.8))
HOUSE = Scene(0.0, THINGS, robot=Pose((0.5, 0.2, 0.0)), building=Building(ROOMS, ()))


def instructions(bare: bool) -> str:
    content: str = reading_messages(ReadingRequest("x", TABLE, ("a",) if bare else ()))[0]["content"]
    return content


def answers(bare: bool) -> list[dict]:
    """The worked examples, as the model would write them."""
    text = instructions(bare).replace("\n", " ")
    return [json.loads(found) for found in re.findall(r'\{"reasoning": "(?!\.\.\.).*?"question": "[^"]*"\}', text)]


FORMULAS = [
    constraint["formula"] for bare in (False, True) for answer in answers(bare) for constraint in answer["constraints"]
]
RULES_OF_THUMB = [
    "G(!P & X P -> X F Q)", "G(!P -> N !P)", "!Q W P", "G(P -> G !Q)", "G(P -> F Q)", "F(P & F Q)", "!Q U P",
    "G(P -> (P W G !P))", "F a", "F(a & F b)", "!b U a", "G !a", "G(a -> F b)", "F in(robot, lab)",
]  # fmt: skip


def test_there_are_worked_examples_with_and_without_a_question() -> None:
    assert len(FORMULAS) >= 8
    assert any(answer["question"] for answer in answers(bare=False))


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_formulas_of_the_examples_parse(formula: str) -> None:
    parse(formula)


@pytest.mark.parametrize("formula", RULES_OF_THUMB)
def test_the_rules_of_thumb_are_in_the_prompt_and_parse(formula: str) -> None:
    assert formula in (instructions(bare=False) + instructions(bare=True)).replace("\n", " ")
    parse(formula)


@pytest.mark.parametrize("formula", [formula for formula in FORMULAS if "(robot" in formula])
def test_the_propositions_of_the_examples_exist(formula: str) -> None:
    for proposition in parse(formula).propositions:
        parse_proposition(proposition)


@pytest.mark.parametrize("name", [*PREDICATES, *SIGNALS])
def test_every_proposition_there_is_is_told(name: str) -> None:
    assert re.search(rf"\b{name}\(", instructions(bare=False))


def test_each_robot_is_told_of_its_own_world_only() -> None:
    table, house = (reading_messages(ReadingRequest("x", scene))[0]["content"] for scene in (TABLE, HOUSE))
    assert "at(OBJECT, REGION)" in table
    assert "in(robot, ROOM)" not in table
    assert "in(robot, ROOM)" in house
    assert not {"REGION", "height(", "toppled"} & {*re.findall(r"REGION|height\(|toppled", house)}
    assert ("speed(robot) < 0.1." in table, "speed(robot) < 0.25." in house) == (True, True)


def test_a_reading_is_told_what_regions_span_and_how_things_lie_in_them() -> None:
    table = instructions(bare=False)
    assert '"middle" (x 0.39 to 0.53, y -0.13 to 0.13)' in table
    assert "its middle, not its outline, lies in the region or at most 0.03 outside" in table


@pytest.mark.parametrize("scene", [TABLE, HOUSE], ids=["table", "house"])
def test_a_reading_is_told_every_skill_that_it_may_speak_of(scene: Scene) -> None:
    skills = load_skills().for_scene(scene).signatures
    content = reading_messages(ReadingRequest("x", scene, skills=skills))[0]["content"]
    (line,) = [one for one in content.splitlines() if one.startswith("did(")]
    named = {skill.name for skill in skills if re.search(rf"\b{skill.name}\b", line)}
    alone = {skill.name for skill in skills if not skill.parameters} if scene is HOUSE else set()
    assert named == {skill.name for skill in skills if skill.parameters and skill.takes_a_thing} | alone


def test_a_reading_is_told_where_a_person_stands_who_is_not_behind_the_robot() -> None:
    told = reading_messages(ReadingRequest("x", TABLE, viewpoint=viewpoint("facing")))[1]["content"]
    assert 'elsewhere (facing): for them "top" is -x' in told
    assert "elsewhere" not in reading_messages(ReadingRequest("x", TABLE))[1]["content"]


def test_the_binding_of_operators_is_as_told() -> None:
    assert parse("F a & b") is parse("(F a) & b")
    assert parse("!a U b & c") is parse("((!a) U b) & c")
    assert parse("a & b | c -> d") is parse("((a & b) | c) -> d")


@pytest.mark.parametrize("scene", [TABLE, HOUSE], ids=["table", "house"])
def test_the_programs_of_the_examples_may_run(scene: Scene) -> None:
    skills = load_skills().for_scene(scene).signatures
    text = system_prompt(scene, skills).replace("\r", "") + "\n"
    programs = re.findall(r'Example\. Command: ".*"\n((?:.+\n)+)', text)
    assert len(programs) >= 3
    for program in programs:
        check_program(program, skills, scene)
