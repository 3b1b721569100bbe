"""Scenes as they come: an odd object costs the robot that object, and nothing else."""

from __future__ import annotations

import math

import pytest
from llm_planner_interfaces.msg import Scene as SceneMsg

from llm_planner.errors import InputError
from llm_planner.ros.conversions.scene_messages import SceneReader, scene_from_msg, scene_to_msg
from llm_planner.scene.scene import Pose, Scene, SceneObject

MUG = SceneObject("mug", "mug", "", (0.5, 0.1, 0.04), (0.0, 0.0, 0.0, 1.0), (0.08, 0.08, 0.09))
VASE = SceneObject("vase", "vase", "", (0.4, -0.2, 0.1), (0.0, 0.0, 0.0, 1.0), (0.1, 0.1, 0.2))
SEEN = Scene(1.0, (MUG, VASE), robot=Pose((0.5, 0.1, 0.1)))


def message(held: str = "", run: int = 7) -> SceneMsg:
    told = scene_to_msg(SEEN, "panda_link0", "tabletop", run)
    told.held = held
    return told


def odd_vase(held: str = "", run: int = 7) -> SceneMsg:
    told = message(held, run)
    told.objects[1].pose.position.x = math.nan
    return told


@pytest.fixture
def flaws() -> list[str]:
    return []


@pytest.fixture
def reader(flaws: list[str]) -> SceneReader:
    return SceneReader(flaws.append)


def test_a_thing_without_a_place_stays_where_it_was_and_that_is_said(reader, flaws):
    reader.read(message())
    assert reader.read(odd_vase()).objects == (MUG, VASE)
    assert flaws == [
        "an object of the scene cannot be used, it counts as where it was last: of scene.objects[1], called 'vase', "
        "pose.position is (nan, -0.2, 0.1); its numbers must lie between -10000 and 10000"
    ]


def test_a_thing_that_was_never_seen_well_is_left_out_and_that_is_said(reader, flaws):
    assert reader.read(odd_vase()).objects == (MUG,)
    assert "cannot be used, it is left out: of scene.objects[1], called 'vase'" in flaws[0]


def test_a_world_that_was_laid_out_anew_has_no_things_of_before(reader):
    reader.read(message())
    assert reader.read(odd_vase(run=8)).objects == (MUG,)


def test_what_is_held_and_not_listed_is_in_the_hand_and_that_is_said(reader, flaws):
    scene = reader.read(message(held="ghost"))
    assert scene.find("ghost").position == SEEN.robot.position
    assert flaws == ["held is 'ghost', which cannot be read among the objects; it counts as in the hand, 0.2 m wide"]


def _change(path: str, value: object):
    def change(told: SceneMsg) -> None:
        *way, last = path.split(".")
        at = told
        for part in way:
            at = at[int(part)] if part.isdigit() else getattr(at, part)
        setattr(at, last, value)

    return change


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("objects.0.size.y", -0.1, r"called 'mug', size is \(0.08, -0.1, 0.09\); each side must be more than 0"),
        ("objects.0.size.y", 0.0, r"size is \(0.08, 0, 0.09\)"),
        ("objects.0.size.y", 1e308, "at most 100 m"),
        ("objects.0.pose.orientation.w", 0.0, r"pose.orientation is \(0, 0, 0, 0\); it must be a unit quaternion"),
        ("objects.0.name", " ", "name is ' '; it must be a name"),
        ("objects.0.kind", "x" * 999, "kind has 999 characters .*; it may have 200"),
        ("objects.0.state", math.inf, "state is inf; it must be a number from -10000 to 10000"),
    ],
)
def test_an_object_that_cannot_be_is_refused_with_the_field_the_value_and_what_is_valid(path, value, complaint):
    told = message()
    _change(path, value)(told)
    with pytest.raises(InputError, match=complaint):
        scene_from_msg(told)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("objects.0.name", "vase", "the names of scene.objects holds 'vase' twice"),
        ("held", " ", "scene.held is ' '; it must be a name"),
        ("speed", math.nan, "scene.speed is nan; it must be a number from 0 to 100"),
        ("robot.position.y", math.nan, r"scene.robot.position is \(0.5, nan, 0.1\)"),
        ("robot.orientation.w", 0.2, r"scene.robot.orientation is \(0, 0, 0, 0.2\)"),
        ("header.stamp.sec", -5, "scene.header.stamp is -5 s and 0 ns; it must lie between 0"),
        ("header.stamp.nanosec", 2**32 - 1, "with less than a second of ns"),
    ],
)
def test_what_concerns_all_of_a_scene_voids_it(reader, path, value, complaint):
    told = message()
    _change(path, value)(told)
    with pytest.raises(InputError, match=complaint):
        reader.read(told)
