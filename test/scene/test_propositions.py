"""What a formula may say of a scene."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.predicates import BESIDE_MAX_GAP, CONTACT_TOLERANCE, PLACE_TOLERANCE
from llm_planner.scene.propositions import (
    MOVED_DISTANCE,
    NEAR_ARM,
    NEAR_BASE,
    PREDICATES,
    SIGNALS,
    Moment,
    check_proposition,
    holds,
    parse_proposition,
)
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

SCENE = Scene(0.0, tuple(SceneObject(name, name, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for name in ("mug", "vase")))


TABLE = (
    (Path(__file__).parents[2] / "docs" / "concepts" / "temporal_logic.md")
    .read_text(encoding="utf-8")
    .partition("## What a form")[2]
)


@pytest.mark.parametrize("name", [*PREDICATES, *SIGNALS])
def test_every_proposition_is_documented(name):
    assert f"| `{name}(" in TABLE


@pytest.mark.parametrize(
    ("name", "thresholds"),
    [
        ("near", (NEAR_ARM, NEAR_BASE)), ("moved", (MOVED_DISTANCE,)), ("at", (PLACE_TOLERANCE,)),
        ("on", (CONTACT_TOLERANCE,)), ("beside", (BESIDE_MAX_GAP,)),
    ],
)  # fmt: skip
def test_the_documented_thresholds_are_those_in_force(name, thresholds):
    (row,) = (line for line in TABLE.splitlines() if line.startswith(f"| `{name}("))
    assert [float(number) for number in re.findall(r"(\d+\.\d+) m\b", row)] == list(thresholds)


ORIGINS = {item.name: item.position for item in SCENE.objects}


def vase_is_moved(position: tuple[float, float, float], held: str = "") -> bool:
    """With everything at the origin when the command began."""
    mug, vase = SCENE.objects
    scene = replace(SCENE, objects=(mug, replace(vase, position=position)), held=held)
    return holds(parse_proposition("moved(vase)"), Moment(scene, ORIGINS))


def test_a_thing_is_moved_as_soon_as_it_is_in_the_gripper():
    assert vase_is_moved((0.0, 0.0, 0.0), held="vase")
    assert vase_is_moved((0.4, 0.0, 0.2), held="vase")
    assert not vase_is_moved((0.0, 0.0, 0.0), held="mug")


def test_a_thing_is_moved_where_it_lies_farther_from_its_place_than_a_nudge():
    assert vase_is_moved((1.1 * MOVED_DISTANCE, 0.0, 0.0))
    assert not vase_is_moved((0.9 * MOVED_DISTANCE, 0.0, 0.0))


def test_a_thing_put_back_where_it_lay_is_moved_no_more():
    assert not vase_is_moved((0.0, 0.0, 0.0))


def test_a_held_thing_that_nobody_saw_lying_is_moved():
    held = Moment(replace(SCENE, held="vase"))
    assert holds(parse_proposition("moved(vase)"), held)
    assert not holds(parse_proposition("moved(mug)"), held)


def test_a_missing_comma_is_pointed_out():
    with pytest.raises(
        InputError, match=r"'in\(robot lab\)' gives in 1 arguments; it takes 2, with a comma between two"
    ):
        parse_proposition("in(robot lab)")


@pytest.mark.parametrize("text", ["near(mug, vase)", "over(mug, vase)", "distance(mug, vase) > 1", "speed(mug) < 1"])
def test_what_is_known_of_the_robot_only_is_not_said_of_things(text):
    with pytest.raises(InputError, match=r"speaks of 'mug', but \w+ is known of the robot only: write \w+\(robot"):
        check_proposition(parse_proposition(text), SCENE)


@pytest.mark.parametrize(
    "text",
    ["near(robot, vase)", "over(robot, vase)", "distance(robot, vase) > 1", "speed(robot) < 1", "beside(mug, vase)"],
)
def test_the_robot_and_relations_of_things_may_be_spoken_of(text):
    check_proposition(parse_proposition(text), SCENE)


@pytest.mark.parametrize(
    "text", ["moved(anything)", "in(anything, bowl)", "near(robot, anything)", "did(pick, anything)"]
)
def test_anything_can_only_be_held(text):
    with pytest.raises(InputError, match=r"anything can only be held; write holding\(anything\), or name one thing"):
        check_proposition(parse_proposition(text), SCENE)
    check_proposition(parse_proposition("holding(anything)"), SCENE)
