"""The questions that programs ask the scene."""

from dataclasses import replace

import pytest

from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import NothingFoundError
from llm_planner.programs.values import Point
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, SceneObject
from llm_planner.skills.library import load_skills

ANSWERS = {
    'objects("block")': ["red block", "green block", "blue block"],
    'objects(color="red")': ["red block", "red bowl"],
    'objects("bowl", "blue")': ["blue bowl"],
    'color("red block")': "red",
    'kind("red bowl")': "bowl",
    'position("green block")': Point(0.45, 0.0, 0.02),
    'position("green block").x': 0.45,
    'height("red bowl")': 0.045,
    'width("red bowl")': 0.128,
    "held()": None,
    'is_on("red block", "blue block")': False,
    'is_in("red block", "red bowl")': False,
    'is_at("red block", "left side")': True,
    'is_at("red block", point(0.55, 0.25))': True,
    'is_held("red block")': False,
    'is_clear("red bowl")': True,
    'contents("red bowl")': [],
    'closest(objects("block"), to="red bowl")': "green block",
    'closest(objects("block"), to="bottom right corner")': "blue block",
    'closest(objects("block"), to=point(0.6, 0.3))': "red block",
    'closest(objects(), to="green block")': "red bowl",  # never the thing itself
    'farthest(objects("block"), to="red block")': "blue block",
    "largest(objects())": "red bowl",
    'smallest(objects("block") + objects("bowl"))': "red block",
    'from_side(objects("block"), "right")': ["blue block", "green block", "red block"],
    'from_side(objects("block"), "bottom")': ["blue block", "green block", "red block"],
    'on_side(objects("block"), "right", of="blue bowl")': ["green block", "blue block"],
    'on_side(objects("block"), "top", "green block")': ["red block"],
    'distance("red block", point(0.55, 0.15))': pytest.approx(0.1),
    'midpoint("red block", "blue block")': Point(0.45, 0.0),
    "point(0.3, 0.1)": Point(0.3, 0.1),
    "pairs([1, 2, 3])": [(1, 2), (2, 3)],
    "len(circle_points(5))": 5,
    'len(line_points(3, "horizontal"))': 3,
}


@pytest.mark.parametrize("expression", ANSWERS)
def test_an_answer(evaluate, expression):
    assert evaluate(expression) == ANSWERS[expression]


def test_a_thing_just_outside_a_region_is_not_there_yet(evaluate, scene):
    edge = 0.4 - 0.8 / 3  # of the left side
    for y, there in ((edge + 0.001, True), (edge - 0.02, False)):
        block = replace(scene.find("red block"), position=(0.45, y, 0.02))
        assert evaluate('is_at("red block", "left side")', replace(scene, objects=(block,))) is there


def test_lines_run_from_left_to_right_or_from_near_to_far(evaluate):
    horizontal, vertical = evaluate("line_points(3)"), evaluate('line_points(3, "vertical")')
    assert horizontal[0].y > horizontal[1].y > horizontal[2].y
    assert horizontal[0].x == horizontal[2].x
    assert vertical[0].x < vertical[1].x < vertical[2].x


def test_what_is_near_is_near_to_the_robot_where_nothing_else_is_said(evaluate, scene):
    there = replace(scene, robot=Pose((0.35, -0.15, 0.4)))
    assert evaluate('closest(objects("block"))', there) == "blue block"
    assert evaluate('farthest(objects("block"), to=None)', there) == "red block"
    assert evaluate('distance("blue block")', there) == pytest.approx(0.1)
    with pytest.raises(NothingFoundError, match="not known where the robot is"):
        evaluate('closest(objects("block"))', scene)


@pytest.mark.parametrize(
    ("pulled", "is_open", "is_closed"), [(0.0, False, True), (0.03, False, False), (0.12, True, False)]
)
def test_a_drawer_that_is_ajar_is_neither_open_nor_closed(evaluate, scene, pulled, is_open, is_closed):
    drawer = SceneObject("drawer", "drawer", "", (0.6, 0.3, 0.1), IDENTITY, (0.2, 0.2, 0.2), state=pulled)
    there = replace(scene, objects=(drawer,))
    assert (evaluate('is_open("drawer")', there), evaluate('is_closed("drawer")', there)) == (is_open, is_closed)


def test_what_is_held_and_what_lies_in_a_bowl_is_seen(evaluate, scene):
    bowl = scene.find("red bowl")
    inside = SceneObject("red cube", "cube", "red", (*bowl.position[:2], 0.03), bowl.orientation, (0.04, 0.04, 0.04))
    now = replace(scene, objects=(*scene.objects, inside), held="blue block")
    assert evaluate("held()", now) == "blue block"
    assert evaluate('contents("red bowl")', now) == ["red cube"]
    assert evaluate('is_in("red cube", "red bowl")', now) is True


def test_rooms_are_known_in_a_building_and_there_are_none_at_a_table(evaluate, scene):
    assert (evaluate("rooms()"), evaluate("robot_room()"), evaluate('room_of("red block")')) == ([], "", "")


@pytest.mark.parametrize(
    ("expression", "value"),
    [("rooms()", ["hall", "lab"]), ("robot_room()", "lab"), ('room_of("red block")', "hall")],
)
def test_in_a_building_a_program_asks_for_rooms(scene, expression, value):
    rooms = (Room("hall", Rectangle(0.0, 1.0, 0.0, 1.0)), Room("lab", Rectangle(1.0, 2.0, 0.0, 1.0)))
    house = replace(scene, robot=Pose((1.5, 0.5, 0.0)), building=Building(rooms, ()))
    program = check_program(f"result = {expression}\nlook()", load_skills().for_scene(house).signatures, house)
    interpreter = Interpreter(program)
    interpreter.advance(house)
    assert interpreter.variables["result"] == value
