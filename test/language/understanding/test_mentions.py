"""Names of things and rooms, in words and in formulas."""

import pytest

from llm_planner.language.understanding.wording import arguments_of, full_names_in
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject

NAMES = ("lab", "dark lab", "hall")
SCENE = Scene(
    0.0,
    (SceneObject("Ben", "person", "", (0, 0, 0), IDENTITY, (0.4, 0.4, 1.7)),),
    building=Building(tuple(Room(n, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, n in enumerate(NAMES)), ()),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("after the lab not near ben", ["lab", "Ben"]),
        ("visit the dark lab", ["dark lab"]),
        ("the hall then the dark lab and the lab", ["hall", "dark lab", "lab"]),
        ("benefit from labels", []),
        ("", []),
    ],
)
def test_full_names_are_found_in_their_order(text, names):
    assert full_names_in(text, SCENE) == names


def test_a_formula_names_all_that_its_propositions_speak_of():
    rule = parse("G (in(Ben, lab) -> !near(robot, mug))")
    assert set(arguments_of(rule)) == {"Ben", "lab", "robot", "mug"}
