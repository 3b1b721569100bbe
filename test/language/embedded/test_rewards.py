"""Statements that are reached by search become reward programs that the checker takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS, REWARDS
from llm_planner.language.embedded.model import command_of
from llm_planner.programs.checker import check_program
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills
from training.results import check_result, parse_result

Written = Callable[[str, str], str]
AT_TABLE = {
    'turn("mug", "a quarter turn", right)': "reach(turned('mug') == -90)",
    'turn("mug", "90 degrees")': "reach(turned('mug') == 90)",
    'turn("mug", "half a turn")': "reach(turned('mug') == 180)",
    'turn("mug", "twice")': "reach(turned('mug') == 720)",
    'lean("mug", "30 degrees")': "reach(tilt('mug') == 30); reach(height('mug') >= 0.1)",
    'touch("red block", "mug")': "reach(gap('red block', 'mug') <= 0.003)",
    'apart("red block", "mug", "5 cm")': "reach(gap('red block', 'mug') == 0.05)",
    'align("red block", "mug", "vase")': "reach(off_line('red block', 'mug', 'vase') <= 0.012)",
    'handle_towards("mug", "vase")': "reach(facing('mug', 'vase') <= 8); reach(tilt('mug') <= 8)",
    'handle_away("mug", "vase")': "reach(facing('mug', 'vase') >= 172); reach(tilt('mug') <= 8)",
}
IN_HOUSE = {
    'face("anna")': "reach(facing('robot', 'Anna') <= 8)",
    'turn_away("anna")': "reach(facing('robot', 'Anna') >= 170)",
    'spin("360 degrees", right)': "reach(turned('robot') == -360); keep(moved('robot') <= 0.1)",
    'circle_around("plant")': "reach(circled('robot', 'plant') == 360); keep(distance('robot', 'plant') <= 1.17)",
    'back_up_to("plant")': "reach(distance('robot', 'plant') <= 0.82); reach(facing('robot', 'plant') >= 170)",
    'stand_off("anna", "2 m")': "reach(distance('robot', 'Anna') == 2)",
}


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    table = open_world("tabletop", 0, parse_objects("red block, blue block, green bowl, mug, vase")).scene()
    return {"table": table, "house": open_world("rooms", 0, parse_things("parcel, plant, Anna, dock")).scene()}


@pytest.fixture
def written(scenes: dict[str, Scene]) -> Written:
    """The program of a result in one of the scenes, which the checker has taken."""

    def program(result: str, where: str) -> str:
        terms = parse_result(result)
        check_result(terms, COMMANDS)
        text = command_of(terms, "so", scenes[where]).program
        check_program(text, load_skills().for_scene(scenes[where]).signatures, scenes[where])
        return text

    return program


@pytest.mark.parametrize("result", AT_TABLE)
def test_an_arm_achieves(written: Written, result: str) -> None:
    assert written(result, "table") == f'achieve("{AT_TABLE[result]}")\n'


@pytest.mark.parametrize("result", IN_HOUSE)
def test_a_base_manoeuvres(written: Written, result: str) -> None:
    assert written(result, "house") == f'manoeuvre("{IN_HOUSE[result]}")\n'


def test_what_is_lifted_is_held_first(written: Written) -> None:
    assert written('lift("mug", "20 cm")', "table") == 'pick("mug")\nachieve("reach(height(\'mug\') == 0.2)")\n'


def test_whom_it_follows_it_goes_to_first(written: Written) -> None:
    assert written('follow("anna")', "house") == 'go_to("Anna")\nfollow("Anna", 60, 1)\n'
    assert written('follow("anna", for="20 seconds", apart="2 m")', "house").endswith('follow("Anna", 20, 2)\n')


def test_between_two_is_half_way(written: Written, scenes: dict[str, Scene]) -> None:
    anna, plant = (scenes["house"].find(name).position for name in ("Anna", "plant"))
    middle = f"({(anna[0] + plant[0]) / 2:.2f}, {(anna[1] + plant[1]) / 2:.2f})"
    assert middle in written('stand_between("anna", "plant")', "house")


def test_a_dock_need_not_be_named(written: Written) -> None:
    assert written("dock", "house") == 'dock("dock")\n'


def test_every_reward_is_one_of_these() -> None:
    said = {result.partition("(")[0] for result in (*AT_TABLE, *IN_HOUSE)}
    assert said | {"lift", "follow", "stand_between", "dock"} == set(REWARDS)


@pytest.mark.parametrize(
    ("result", "question"),
    [
        ('turn("mug", "somewhat")', "how far to turn by “somewhat”"),
        ('apart("red block", "mug", "a bit")', "how much “a bit” is"),
        ('touch("block", "mug")', "Which block do you mean: the red block or the blue block"),
        ('touch("pink cat", "mug")', "I do not know what “pink cat” is here"),
    ],
)
def test_what_is_not_clear_is_a_question(written: Written, result: str, question: str) -> None:
    with pytest.raises(QuestionError, match=question):
        written(result, "table")


def test_no_room_is_a_thing_to_back_up_to(written: Written) -> None:
    with pytest.raises(QuestionError):
        written('back_up_to("the hall")', "house")
