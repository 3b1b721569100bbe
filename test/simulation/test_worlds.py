"""Worlds of one's own: files that say what is where, and what is reported of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import check_world, open_world, read_world

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


ROOMS = """\
robot: mobile
rooms:
  - {name: hall, x: [0, 4], y: [0, 3]}
  - {name: lab, x: [4, 8], y: [0, 3]}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robots: arm\n", r"line 1: robots is unknown; the keys are: robot, objects, rooms, doors, start"),
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
    with pytest.raises(InputError, match=r"no world 'mars'; the worlds are: tabletop, rooms, two_tables, and files"):
        check_world("mars")
    with pytest.raises(InputError, match=r"nowhere.yaml cannot be read: "):
        check_world("nowhere.yaml")


def test_objects_cannot_be_listed_besides_a_file():
    with pytest.raises(InputError, match=r"says what is in this world; leave the list of objects out"):
        open_world(str(EXAMPLES / "kitchen_table.yaml"), 0, parse_objects("mug"))
