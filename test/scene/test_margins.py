"""How far a proposition is from changing, as the scene measures it."""

from dataclasses import replace
from math import inf

import pytest

from llm_planner.ltl.scene_letters import margin_of, room_distance, unit_of
from llm_planner.scene.places import Rectangle
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject
from llm_planner.simulation.worlds import open_world

VASE = SceneObject("vase", "vase", "", (0.5, 0.0, 0.1), IDENTITY, (0.1, 0.1, 0.2))


def table(position, **changes):
    return replace(Scene(0.0, (VASE,), robot=Pose(position)), **changes)


def margin(text, scene, origins=None):
    return margin_of(parse_proposition(text), Moment(scene, origins or {}))


def test_near_is_a_distance():
    assert margin("near(robot, vase)", table((0.5, 0.25, 0.1))) == pytest.approx(-0.1)
    assert margin("near(robot, vase)", table((0.5, 0.1, 0.1))) == pytest.approx(0.05)


def test_over_is_seen_from_above():
    assert margin("over(robot, vase)", table((0.52, 0.0, 0.9))) == pytest.approx(0.03)
    assert margin("over(robot, vase)", table((0.55 + 0.03, 0.05 + 0.04, 0.9))) == pytest.approx(-0.05)


def test_comparisons_are_their_signals():
    assert margin("speed(robot) < 0.2", table((0.0, 0.0, 0.5), speed=0.05)) == pytest.approx(0.15)
    assert margin("height(vase) > 0.1", table((0.0, 0.0, 0.5))) == pytest.approx(-0.1)


def test_moving_is_measured_until_the_thing_is_held():
    scene = table((0.0, 0.0, 0.5))
    assert margin("moved(vase)", scene, {"vase": (0.5, 0.05, 0.1)}) == pytest.approx(0.02)
    assert margin("moved(vase)", replace(scene, held="vase"), {"vase": VASE.position}) == inf


def test_what_is_only_so_or_not_is_infinitely_so():
    scene = table((0.0, 0.0, 0.5))
    assert (margin("holding(vase)", scene), margin("clear(vase)", scene)) == (-inf, inf)
    assert margin("near(robot, ghost)", scene) == -inf
    assert margin("over(robot, vase)", replace(scene, robot=None)) == -inf


def test_a_room_is_as_far_as_its_nearest_wall():
    area = Rectangle(0.0, 4.0, 0.0, 2.0)
    assert room_distance(area, (1.0, 0.5)) == pytest.approx(-0.5)
    assert room_distance(area, (7.0, 6.0)) == pytest.approx(5.0)


def test_the_room_of_the_robot_is_measured_in_a_building():
    scene = open_world("rooms", 3).scene()
    here = scene.robot_room
    other = next(name for name in scene.building.names if name != here)
    assert margin(f"in(robot, {here})", scene) > 0 > margin(f"in(robot, {other})", scene)
    assert unit_of(parse_proposition(f"in(robot, {here})"), scene) == "m"


@pytest.mark.parametrize("seed", range(5))
def test_the_sign_says_whether_it_holds(seed):
    scene = open_world("rooms", seed).scene()
    for name in scene.building.names:
        item = parse_proposition(f"in(robot, {name})")
        assert (margin_of(item, Moment(scene)) > 0) == holds(item, Moment(scene))


def test_units_are_those_of_the_measure():
    scene = table((0.0, 0.0, 0.5))
    texts = ("near(robot, vase)", "speed(robot) < 0.2", "holding(vase)", "in(vase, box)")
    assert [unit_of(parse_proposition(text), scene) for text in texts] == ["m", "m/s", "", ""]
