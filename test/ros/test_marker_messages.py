"""Markers of a scene: what is drawn where, and what a tool needs to draw it."""

from __future__ import annotations

import math

import pytest

from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, Scene, SceneObject
from llm_planner.scene.zones import Shape, Subject, Zone

pytest.importorskip("visualization_msgs.msg")

from visualization_msgs.msg import Marker

from llm_planner.ros.conversions.marker_messages import (
    markers,
    path_markers,
    rule_marker,
    scene_markers,
    zone_markers,
)

TURNED = (0.0, 0.0, math.sin(0.5), math.cos(0.5))
BLOCK = SceneObject("red block", "block", "red", (0.4, 0.1, 0.02), TURNED, (0.04, 0.05, 0.06))
BOWL = SceneObject("green bowl", "bowl", "green", (0.5, -0.1, 0.02), IDENTITY, (0.13, 0.13, 0.045))
TABLE = Scene(1.0, (BLOCK, BOWL), held="red block")
AT = Pose((0.1, 0.2, 0.3))


def scale(marker: Marker) -> tuple[float, float, float]:
    return marker.scale.x, marker.scale.y, marker.scale.z


def test_an_array_replaces_what_was_shown_and_each_marker_has_a_number_of_its_own():
    array = markers("base", scene_markers(TABLE)).markers
    assert array[0].action == Marker.DELETEALL
    assert {one.header.frame_id for one in array} == {"base"}
    assert len({one.id for one in array}) == len(array)
    assert {(one.header.stamp.sec, one.header.stamp.nanosec) for one in array} == {(0, 0)}


def test_an_object_is_a_box_or_a_cylinder_of_its_size_place_and_colour_with_its_name():
    block, block_name, bowl, bowl_name = scene_markers(TABLE)
    assert (block.type, bowl.type) == (Marker.CUBE, Marker.CYLINDER)
    assert scale(block) == BLOCK.size
    assert (block.pose.position.x, block.pose.orientation.z) == (0.4, TURNED[2])
    assert block.color.r > 2 * block.color.g
    assert bowl.color.g > bowl.color.r
    assert (block_name.text, bowl_name.text) == ("red block (held)", "green bowl")
    assert block_name.pose.position.z > 0.05


def test_a_kind_that_nobody_knows_is_gray():
    thing = SceneObject("gadget", "gadget", "", (0.0, 0.0, 0.0), IDENTITY, (0.1, 0.1, 0.1))
    marker, _ = scene_markers(Scene(0.0, (thing,)))
    assert marker.color.r == marker.color.g == marker.color.b


@pytest.mark.parametrize(
    ("shape", "size", "kinds", "first"),
    [
        (Shape.BOX, (0.1, 0.2, 0.3), [Marker.CUBE], (0.24, 0.44, 0.64)),
        (Shape.SPHERE, (0.1,), [Marker.SPHERE], (0.24, 0.24, 0.24)),
        (Shape.CYLINDER, (0.1, 0.3), [Marker.CYLINDER], (0.24, 0.24, 0.64)),
        (Shape.CAPSULE, (0.1, 0.3), [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE], (0.24, 0.24, 0.6)),
    ],
)
def test_a_zone_is_as_large_as_what_is_kept_free(shape, size, kinds, first):
    found = list(zone_markers([Zone("it", shape, size, AT, clearance=0.02)]))
    assert [one.type for one in found] == kinds
    assert scale(found[0]) == pytest.approx(first)
    ends = [one.pose.position.z for one in found[1:]]
    assert ends == pytest.approx([0.0, 0.6] if ends else [])
    assert 0.0 < found[0].color.a < 1.0, "one sees through it"


def test_zones_of_the_gripper_alone_look_different():
    robot, gripper = zone_markers([Zone("it", Shape.SPHERE, (0.1,), AT, subject=subject) for subject in Subject])
    assert robot.color != gripper.color


def test_paths_are_lines_and_a_point_is_none():
    way = [(0.3, 0.0, 0.4), (0.4, 0.1, 0.1)]
    now, later = path_markers(TABLE, way, [way, way[:1]])
    assert (now.ns, later.ns, now.type) == ("path", "rehearsed", Marker.LINE_STRIP)
    assert [(one.x, one.y, one.z) for one in now.points] == way
    assert now.pose.orientation.w == 1.0


def test_rules_stand_above_the_arm_or_above_a_mobile_robot():
    building = Building((Room("hall", Rectangle(0.0, 4.0, 0.0, 3.0)),), ())
    house = Scene(0.0, (), robot=Pose((2.0, 1.0, 0.0)), building=building)
    text, above = rule_marker(TABLE, ["never near the vase", "at most 0.10 m/s"]), rule_marker(house, ["slowly"])
    assert text.text == "never near the vase\nat most 0.10 m/s"
    assert (text.pose.position.x, text.pose.position.y) == (0.0, 0.0)
    assert (above.pose.position.x, above.pose.position.y) == (2.0, 1.0)
    assert above.scale.z > text.scale.z, "a building is seen from far away"
    floor, name = scene_markers(house)
    assert scale(floor)[:2] == (4.0, 3.0)
    assert name.text == "hall"
