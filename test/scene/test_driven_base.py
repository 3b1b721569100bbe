"""Scenes of an arm on a mobile base: its frame moves along, and what lies in the room does not."""

from __future__ import annotations

import math

import pytest

from llm_planner.scene.driven_base import driven_to, fixed_places, in_map, seen_anew, within_reach
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.places import Rectangle
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import IDENTITY, Building, DrivenBase, Pose, Room, Scene, SceneObject

BUILDING = Building((Room("room", Rectangle(-3.0, 3.0, -3.0, 3.0)),), ())
TABLE = SceneObject("left table", "table", "", (0.5, 0.0, -0.3), IDENTITY, (0.5, 0.9, 0.6))
BLOCK = SceneObject("red block", "block", "red", (0.45, 0.1, 0.02), IDENTITY, (0.04, 0.04, 0.04))
MUG = SceneObject("mug", "mug", "", (0.3, 0.0, 0.3), IDENTITY, (0.09, 0.07, 0.08))
HAND = Pose((0.3, 0.0, 0.35), (1.0, 0.0, 0.0, 0.0))


@pytest.fixture
def scene() -> Scene:
    base = DrivenBase(upright_pose(1.0, 2.0, math.pi / 2), 0.05, (0.26, 0.86), BUILDING)
    return Scene(0.0, (TABLE, BLOCK, MUG), held="mug", robot=HAND, arm="mobile_ur5e", base=base)


def test_the_map_shows_things_where_they_are_in_the_room(scene):
    mapped = in_map(scene)
    assert mapped.find("red block").position == pytest.approx((0.9, 2.5, 0.02))
    assert mapped.robot_kind == "mobile"


def test_after_a_drive_things_stay_in_the_room_and_the_load_in_the_hand(scene):
    after = driven_to(scene, upright_pose(-1.0, 0.5, 0.3))
    assert in_map(after).find("red block").position == pytest.approx(in_map(scene).find("red block").position)
    assert (after.robot, after.find("mug")) == (HAND, MUG)


def test_a_drive_moves_nothing_but_the_load(scene):
    after = driven_to(scene, upright_pose(-1.0, 0.5, 0.3))
    moment = Moment(after, fixed_places(scene))
    assert not holds(parse_proposition("moved(red block)"), moment)
    assert holds(parse_proposition("moved(mug)"), moment)


def test_a_place_in_the_frame_of_the_arm_is_seen_anew_after_a_drive(scene):
    after = driven_to(scene, upright_pose(-1.0, 0.5, 0.3))
    places = seen_anew({"red block": BLOCK.position}, scene, after)
    assert places["red block"] == pytest.approx(after.find("red block").position)


def test_a_thing_or_table_is_within_reach_where_the_base_stands_at_it(scene):
    assert within_reach(scene, "red block")
    assert within_reach(scene, "left table")
    away = driven_to(scene, upright_pose(1.0, 1.0, math.pi / 2))
    assert not within_reach(away, "red block")
    assert not within_reach(away, "left table")


def test_a_thing_behind_the_arm_is_out_of_its_reach(scene):
    turned = driven_to(scene, upright_pose(1.0, 2.0, -math.pi / 2))
    assert not within_reach(turned, "red block")


def test_what_the_hand_holds_is_within_reach_anywhere(scene):
    assert within_reach(driven_to(scene, upright_pose(-2.0, -2.0, 0.0)), "mug")


def test_an_arm_that_stands_fixed_has_everything_within_reach():
    assert within_reach(Scene(0.0, (BLOCK,)), "red block")
