"""Worlds of one's own: files that say what is where, and what is reported of wrong ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.robots.robot_folders import robot_folder
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import arm_of_file, check_world, open_world, read_world

EXAMPLES = Path(__file__).parents[2] / "examples" / "worlds"


@pytest.fixture
def write(tmp_path):
    """Writes a world file and returns its path."""

    def written(text: str) -> Path:
        path = tmp_path / "world.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_objects_stand_where_the_file_says():
    world = open_world(str(EXAMPLES / "kitchen_table.yaml"))
    x, y, _ = world.scene().find("white plate").position
    assert (x, y) == pytest.approx((0.50, -0.05), abs=0.005)


def test_a_reset_lays_the_world_out_as_in_the_file_again():
    world = open_world(str(EXAMPLES / "small_office.yaml"))
    world.reset(7)
    assert world.scene().building.names == ("hall", "office", "kitchen")
    assert world.scene().find("red mug").position[:2] == pytest.approx((7.0, 5.0))


def test_objects_stand_where_the_file_says_in_any_order(write):
    text = (EXAMPLES / "small_office.yaml").read_text(encoding="utf-8")
    before, after = text.split("objects:\n")
    listed = [line for line in after.splitlines() if line.strip().startswith("- {name")]
    rest = after.replace("\n".join(listed), "")
    world = open_world(str(write(before + "objects:\n" + "\n".join(reversed(listed)) + rest)))
    assert world.scene().find("red mug").position[:2] == pytest.approx((7.0, 5.0))


def test_of_two_objects_with_one_name_the_second_is_numbered(write):
    world = open_world(str(write("objects:\n" + "".join(
        f"  - {{name: {name}, x: {x}, y: 0.0}}\n" for name, x in (("red block", 0.6), ("mug", 0.5), ("red block", 0.4))
    ))))  # fmt: skip
    assert world.scene().find("red block 2").position[0] == pytest.approx(0.4, abs=0.005)


def test_a_file_names_the_robot():
    assert check_world(str(EXAMPLES / "kitchen_table.yaml")) == "arm"
    assert check_world(str(EXAMPLES / "small_office.yaml")) == "mobile"


def test_any_arm_may_be_named_and_another_one_asked_for(write):
    path = str(write("robot: ur5e\nobjects:\n  - {name: mug, x: 0.45, y: 0}\n"))
    assert (check_world(path), arm_of_file(path)) == ("arm", "ur5e")
    assert open_world(path).scene().arm == "ur5e"
    assert open_world(path, robot="fr3").scene().arm == "fr3"


def test_the_folder_of_an_arm_is_relative_to_the_file(write):
    path = write("robot: ./arms/mine\n")
    shutil.copytree(robot_folder("ur5e"), path.parent / "arms" / "mine")
    assert read_world(path).arm == str(path.parent / "arms" / "mine")


@pytest.mark.parametrize("name", ["kitchen_table.yaml", "small_office.yaml"])
def test_a_file_with_the_usual_arm_or_none_asks_for_no_other(name):
    assert arm_of_file(str(EXAMPLES / name)) is None


ROOMS = """\
robot: mobile
rooms:
  - {name: hall, x: [0, 4], y: [0, 3]}
  - {name: lab, x: [4, 8], y: [0, 3]}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robot: ur6\n", r"line 1: robot is 'ur6': there is no robot 'ur6'; the robots are: fr3, .*, or mobile"),
        ("robut: arm\n", r"line 1: robut is unknown; the keys are: robot, robots, strip, objects, rooms, doors, start"),
        ("robots:\n  left: {x: 0, y: 0}\n", r"two or more robots with different names, not left"),
        ("robots:\n  my arm: {x: 0, y: 0}\n", r"line 2: robots.my arm is no namespace; use letters, digits and _"),
        ("robots:\n  left: {robot: mobile_ur5e, x: 0, y: 0}\n", r"'mobile_ur5e' is an arm on a mobile base"),
        ("robots:\n  left: {robot: ur6, x: 0, y: 0}\n", r"line 2: robots.left.robot is 'ur6': there is no robot 'ur6'"),
        (
            "robots:\n  left: {x: 0, y: 0}\n  right: {x: 0.5, y: 0}\n",
            r"'left' and 'right' stand 0.5 m apart; with a strip of 0.36 m between them it must be 0.66 m or more",
        ),
        (
            "robots:\n  left: {x: 0, y: 0.42}\n  right: {x: 0, y: -0.42}\nobjects:\n  - {name: mug, x: 2.0, y: 0}\n",
            r"'mug' at \(2, 0\) is out of reach of left, right",
        ),
        ("objects:\n  - {name: red unicorn, x: 0.4, y: 0}\n", r"line 2: objects\[1\].name .*unicorn"),
        ('objects:\n  - {name: "mug, vase", x: 0.4, y: 0}\n', r"line 2: objects\[1\].name is 'mug, vase', which are 2"),
        ("objects:\n  - {name: red block, x: 2, y: 0}\n", r"'red block' at \(2, 0\) is off the table"),
        (
            "objects:\n  - {name: mug, x: 0.5, y: 0}\n  - {name: vase, x: 0.52, y: 0}\n",
            r"stand in each other; move one",
        ),
        ("rooms:\n  - {name: hall, x: [0, 1], y: [0, 1]}\n", r"rooms, doors and start are for a mobile robot"),
        (ROOMS, r"a mobile robot needs rooms and the place where it starts"),
        (ROOMS + "start: {x: 9, y: 1}\n", r"the robot at \(9, 1\) is in no room; the rooms are: hall, lab"),
        (ROOMS + "start: {x: 1, y: 1}\ndoors:\n  - {between: [hall, lab], x: 4, y: 0.1}\n", r"not in the wall that"),
        (ROOMS + "start: {x: 1, y: 1}\ndoors:\n  - {between: [hall, loo], x: 4, y: 1}\n", r"there is no room 'loo'"),
        (ROOMS + "  - {name: loo, x: [3, 5], y: [0, 2]}\nstart: {x: 1, y: 1}\n", r"'hall' and 'loo' overlap"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_the_choices(write, text, message):
    with pytest.raises(InputError, match=message):
        read_world(write(text))


def test_an_unknown_world_is_refused_with_the_choices():
    with pytest.raises(
        InputError,
        match=r"no world 'mars'; the worlds are: tabletop, rooms, two_tables, two_arms, two_bases, and files such as",
    ):
        check_world("mars")
    with pytest.raises(InputError, match=r"nowhere.yaml cannot be read: "):
        check_world("nowhere.yaml")


def test_objects_cannot_be_listed_besides_a_file():
    with pytest.raises(InputError, match=r"says what is in this world; leave the list of objects out"):
        open_world(str(EXAMPLES / "kitchen_table.yaml"), 0, parse_objects("mug"))
