"""The robot and the scene in the 3D view, with a recording in place of viser's scene."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from llm_planner.console.robot_view import RobotBuilder, RobotView
from llm_planner.console.scene_view import BROKEN, CLOSE, KEPT, SceneView, distance, margin_color
from llm_planner.errors import InputError
from llm_planner.robots.urdf import binary_stl
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.zones import Shape, Zone

UP = Pose((0.0, 0.0, 0.0))
URDF = """
<robot name="two links"><material name="red"><color rgba="1 0 0 1"/></material>
<link name="foot"/>
<link name="base"><visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual></link>
<link name="arm"><visual><geometry><mesh filename="package://missing/arm.stl"/></geometry></visual></link>
<link name="finger"/><link name="thumb"/>
<joint name="mount" type="fixed"><parent link="foot"/><child link="base"/><origin xyz="0 0 1"/></joint>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 2"/>
<axis xyz="0 0 2"/></joint>
<joint name="grip" type="prismatic"><parent link="arm"/><child link="finger"/><axis xyz="0 1 0"/></joint>
<joint name="mirror" type="prismatic"><parent link="arm"/><child link="thumb"/><axis xyz="0 1 0"/>
<mimic joint="grip" multiplier="-1" offset="0.1"/></joint></robot>
"""


@dataclass
class Node:
    kind: str
    removed: bool = False
    sets: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("position", "wxyz", "color"):
            self.sets.append(name)
            self.values[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "values")[name]
        except KeyError:
            raise AttributeError(name) from None

    def remove(self) -> None:
        self.removed = True


class Recorded:
    """Stands for viser's scene: keeps every node by its path."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.shapes: dict[str, tuple[Any, ...]] = {}
        self.added = 0

    def __getattr__(self, name: str):
        def add(path: str, *arguments: object, **values: object) -> Node:
            self.added += 1
            self.shapes[path] = arguments
            self.nodes[path] = Node(name.removeprefix("add_"), values=values)
            return self.nodes[path]

        return add


def block(name: str, x: float) -> SceneObject:
    return SceneObject(name, "block", name.split()[0], (x, 0.0, 0.02), (0.0, 0.0, 0.0, 1.0), (0.04, 0.04, 0.04))


def test_a_joint_turns_the_frame_of_its_child_and_nothing_else():
    scene = Recorded()
    robot = RobotView(scene, URDF)
    arm, before = scene.nodes["/robot/base/arm"], scene.added
    robot.move({"turn": math.pi, "unknown": 1.0})

    assert arm.values["wxyz"] == pytest.approx((0.0, 0.0, 0.0, 1.0), abs=1e-9)
    assert scene.added == before
    robot.move({"turn": math.pi + 1e-6})
    assert arm.sets == ["wxyz"]


def test_a_joint_that_mimics_follows():
    scene = Recorded()
    RobotView(scene, URDF).move({"grip": 0.04})

    assert scene.nodes["/robot/base/arm/finger"].values["position"] == pytest.approx((0.0, 0.04, 0.0))
    assert scene.nodes["/robot/base/arm/thumb"].values["position"] == pytest.approx((0.0, 0.06, 0.0))


def test_the_robot_stands_by_the_link_that_is_the_frame_of_the_scene():
    scene = Recorded()
    robot = RobotView(scene, URDF)
    robot.place("base", None)
    assert scene.nodes["/robot"].values["position"] == pytest.approx((0.0, 0.0, -1.0))
    robot.place("map", Pose((3.0, 4.0, 0.0)))
    assert scene.nodes["/robot"].values["position"] == (3.0, 4.0, 0.0)


def test_colours_are_those_of_the_urdf_and_missing_meshes_are_named():
    scene = Recorded()
    robot = RobotView(scene, URDF)
    assert scene.nodes["/robot/base/look0"].values["color"] == (255, 0, 0)
    assert robot.missing == [
        "arm: the mesh 'package://missing/arm.stl' is not a file of this machine; name it by file://"
    ]


def test_a_robot_is_built_once_for_a_description_and_never_for_one_that_another_followed():
    scene = Recorded()
    builder = RobotBuilder(scene)
    assert builder.wants(URDF)
    assert not builder.wants(URDF)
    robot = builder.build(URDF)
    assert builder.is_wanted(robot)
    assert builder.wants(URDF.replace("two links", "another"))
    assert builder.build(URDF) is None
    assert not builder.is_wanted(robot)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no XML", "is not XML"),
        ("<robot/>", "0 root links"),
        ("<robot><link name='a'/><link name='b'/></robot>", "2 root links"),
    ],
)
def test_what_is_no_robot_is_refused(text, why):
    with pytest.raises(InputError, match=why):
        RobotView(Recorded(), text)


def test_objects_come_move_and_go():
    recorded = Recorded()
    view = SceneView(recorded)
    view.show(Scene(0.0, (block("red block", 0.4), block("blue block", 0.5))))
    red, blue = (recorded.nodes[f"/scene/objects/{name} block"] for name in ("red", "blue"))
    added = recorded.added
    view.show(Scene(0.1, (block("red block", 0.45),)))

    assert red.values["position"] == (0.45, 0.0, 0.02)
    assert blue.removed
    assert recorded.added == added
    view.show(Scene(0.2, (block("red block", 0.45),), held="red block"))
    assert recorded.nodes["/scene/objects/red block/name"].kind == "label"
    assert red.removed


def test_a_zone_takes_the_colour_of_its_margin_and_goes_with_its_rule():
    recorded, zone = Recorded(), Zone("the vase", Shape.SPHERE, (0.1,), UP, clearance=0.05)
    view = SceneView(recorded)
    view.show_zones([zone], (1.0, 0.0, 0.0))
    shown = recorded.nodes["/scene/zones/0"]
    assert shown.values["color"] == KEPT
    view.show_zones([zone], (0.2, 0.0, 0.0))
    assert shown.values["color"] == CLOSE
    view.show_zones([zone], (0.16, 0.0, 0.0))
    assert shown.values["color"] == BROKEN
    view.show_zones([], None)
    assert shown.removed


def test_paths_are_drawn_anew_only_when_they_change():
    recorded = Recorded()
    view = SceneView(recorded)
    way = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
    view.show_paths(way, [way], 0.01)
    view.show_paths(way, [way], 0.01)
    assert recorded.added == 2
    view.show_paths([], [], 0.01)
    assert all(node.removed for node in recorded.nodes.values())


@pytest.mark.parametrize(
    ("shape", "size", "point", "expected"),
    [
        (Shape.SPHERE, (0.1,), (0.3, 0.0, 0.0), 0.2),
        (Shape.CAPSULE, (0.1, 0.5), (0.0, 0.0, 0.7), 0.1),
        (Shape.CYLINDER, (0.1, 0.5), (0.1, 0.0, 0.6), 0.1),
        (Shape.CYLINDER, (0.1, 0.5), (0.0, 0.0, 0.0), -0.1),
        (Shape.BOX, (0.1, 0.2, 0.3), (0.4, 0.6, 0.0), 0.5),
        (Shape.BOX, (0.1, 0.2, 0.3), (0.05, 0.0, 0.0), -0.05),
    ],
)
def test_the_distance_to_a_solid(shape, size, point, expected):
    zone = Zone("it", shape, size, Pose((1.0, 0.0, 0.0)))
    x, y, z = point
    assert distance(zone, (x + 1.0, y, z)) == pytest.approx(expected)


def test_a_margin_is_green_yellow_or_red():
    assert [margin_color(one) for one in (0.2, 0.1, 0.01, -0.1)] == [KEPT, CLOSE, BROKEN, BROKEN]


def test_a_mesh_file_is_shown_in_metres(tmp_path):
    pytest.importorskip("trimesh", reason="meshes need the package trimesh")
    file = tmp_path / "a part.stl"
    file.write_bytes(binary_stl(np.array([[[0.0, 0.0, 0.0], [1000.0, 0.0, 0.0], [0.0, 1000.0, 0.0]]])))
    mesh = f'<geometry><mesh filename="{file.as_uri()}" scale="0.001 0.001 0.001"/></geometry>'
    scene = Recorded()
    robot = RobotView(scene, f'<robot><link name="a"><visual>{mesh}</visual></link></robot>')

    assert robot.missing == []
    assert scene.nodes["/robot/look0/0"].kind == "mesh_simple"
    assert scene.shapes["/robot/look0/0"][0].max() == pytest.approx(1.0)
