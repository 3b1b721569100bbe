"""The node between the scene of an arm and that of MoveIt: conversions, and the node beside a double of move_group."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import MotionConstraints, MotionPatch
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.parameter import Parameter

from llm_planner.control.motion_constraints import Patch
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_description import robot_description
from llm_planner.robots.urdf import LinkFrames, subtree
from llm_planner.ros.base_node import LATCHED, PATCHES, STATES
from llm_planner.ros.conversions.geometry_messages import pose_from_msg, pose_to_msg, transform_to_msg
from llm_planner.ros.conversions.motion_messages import patch_from_msg, patch_to_msg, zone_to_msg
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.ros.nodes.planning_scene_node import PlanningSceneNode, grip_of
from llm_planner.ros.scene_feed import obstacles_among
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.worlds import read_shared_world

pytest.importorskip("moveit_msgs.srv", reason="moveit_msgs is not installed; make setup-dev builds a stand-in")
from moveit_msgs.msg import CollisionObject
from shape_msgs.msg import Mesh, Plane, SolidPrimitive

from llm_planner.ros.conversions.planning_scene_messages import obstacle_from_msg
from test.ros.move_group import MoveGroup

ARM = arm_model("panda")
PATIENCE = 30.0  # [s] of wall time: generous, because the machine may be busy
T_BASE_GRIP = ARM.kinematics().pose(np.array(ARM.home))
HOME = Pose((0.0, 0.0, 0.0))
BLOCK = SceneObject("red block", "block", "red", (0.5, 0.1, 0.02), (0.0, 0.0, 0.0, 1.0), (0.04, 0.05, 0.06))
VASE = SceneObject("vase", "vase", "", (0.4, -0.2, 0.1), (0.0, 0.0, 0.0, 1.0), (0.08, 0.08, 0.2))
RULE, OTHER = "rule 1: never reach over the vase", "rule 2: stay 10 cm away from the vase"


def box(name="crate", position=(0.5, 0.0, 0.2), size=(0.2, 0.1, 0.4), frame=ARM.base, **given) -> CollisionObject:
    solid = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(size))
    one = CollisionObject(id=name, pose=pose_to_msg(Pose(position)), primitives=[solid], operation=CollisionObject.ADD)
    one.primitive_poses, one.header.frame_id = [pose_to_msg(HOME)], frame
    for field, value in given.items():
        setattr(one, field, value)
    return one


def read(one: CollisionObject) -> tuple[Zone, ...]:
    def find(frame: str) -> Pose:
        if frame != ARM.base:
            raise InputError(f"no transform leads from {frame!r}")
        return HOME

    return obstacle_from_msg(one, find)


def shaped(kind: int, *dimensions: float) -> CollisionObject:
    return box(primitives=[SolidPrimitive(type=kind, dimensions=list(dimensions))])


def test_each_shape_becomes_a_solid_that_encloses_it():
    assert read(box()) == (Zone("the crate", Shape.BOX, (0.1, 0.05, 0.2), Pose((0.5, 0.0, 0.2))),)
    assert read(shaped(SolidPrimitive.SPHERE, 0.1))[0].size == (0.1,)
    for kind in (SolidPrimitive.CYLINDER, SolidPrimitive.CONE):
        (zone,) = read(shaped(kind, 0.4, 0.1))
        assert (zone.shape, zone.size) == (Shape.CYLINDER, (0.1, 0.2))
    corners = [Point(x=x, y=0.1, z=z) for x in (0.0, 0.2) for z in (-0.1, 0.3)]
    quarter = Pose((0.0, 0.0, 0.1), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    meshed = box(primitives=[], primitive_poses=[], meshes=[Mesh(vertices=corners)], mesh_poses=[pose_to_msg(quarter)])
    (zone,) = read(meshed)
    assert (zone.shape, zone.size) == (Shape.BOX, (0.1, 0.001, 0.2))
    assert zone.pose.position == pytest.approx((0.5 - 0.1, 0.1, 0.2 + 0.1 + 0.1))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (box(name=" "), "the id is ' '; it must be a name"),
        (box(frame="moon"), "no transform leads from 'moon'"),
        (box(frame=""), "header.frame_id is ''"),
        (box(position=(math.nan, 0.0, 0.0)), r"pose\.position is \(nan, 0, 0\)"),
        (box(size=(0.1, -0.1, 0.1)), "has 3 half sizes between 0 and 100 m"),
        (box(size=(0.1, math.nan, 0.1)), "has 3 half sizes between 0 and 100 m"),
        (box(size=(900.0, 0.1, 0.1)), "has 3 half sizes between 0 and 100 m"),
        (shaped(SolidPrimitive.PRISM, 0.1), r"primitives\[0\] has the type 5 and 1 dimensions; valid are a box"),
        (shaped(SolidPrimitive.BOX, 0.1), r"primitives\[0\] has the type 1 and 1 dimensions"),
        (box(primitives=[], primitive_poses=[]), "it has no shape"),
        (box(primitive_poses=[]), "primitives has 1 items and primitive_poses has 0"),
        (box(planes=[Plane()]), "it has planes"),
        (box(meshes=[Mesh()], mesh_poses=[pose_to_msg(HOME)]), r"meshes\[0\] has 0 vertices"),
        (box(operation=CollisionObject.MOVE), r"the operation is 3"),
        (box(operation=b"\x09"), "the operation is 9"),
    ],
)
def test_what_cannot_be_read_is_named(wrong, reason):
    with pytest.raises(InputError, match=reason):
        read(wrong)


def links_at_home(name: str) -> dict[str, Pose]:
    """The poses of all links of an arm at home, in its base, by its own description."""
    arm = arm_model(name)
    text = robot_description(arm)
    frames = LinkFrames(text)
    moving = frames.moving({**dict(zip(arm.joints, arm.home, strict=True)), **dict.fromkeys(arm.fingers, 0.0)})
    found, left = {arm.base: HOME}, [*frames.fixed, *moving]
    for link in subtree(ElementTree.fromstring(text), arm.base)[1:]:
        one = next(one for one in left if one.child == link)
        found[link] = compose(found[one.parent], one.pose)
    return found


@pytest.mark.parametrize("name", ["panda", "ur5e", "xarm7", "so_arm"])
def test_the_grip_point_is_where_it_is_on_the_link_that_bears_the_hand(name):
    arm, (link, pose) = arm_model(name), grip_of(arm_model(name))
    in_base = compose(links_at_home(name)[link], pose)
    wanted = arm.kinematics().pose(np.array(arm.home))
    assert compose(arm.mounting.pose(), in_base).position == pytest.approx(wanted.position, abs=1e-6)


def test_plans_go_around_what_is_closed_to_the_whole_robot_but_for_what_arms_share():
    boundaries = read_shared_world("two_arms").boundaries("left")
    crate = Zone("the crate", Shape.SPHERE, (0.1,), HOME)
    hand = replace(crate, name="the hand's", subject=Subject.GRIPPER)
    strips = [zone for one in boundaries for zone in (one.near, one.far)]
    assert obstacles_among([crate, hand, *strips], boundaries) == (crate,)


class Bench:
    """The node beside move_group, a controller and an executor that say what holds, and a scene."""

    def __init__(self, here, **parameters: object) -> None:
        self._here = here
        self.scene = Scene(0.0, (BLOCK, VASE), "", T_BASE_GRIP, arm=ARM.name)
        around = rclpy.create_node("around", context=here.context)
        self.move_group = MoveGroup(around, ARM.base, links_at_home("panda"))
        self.node = self.start(**parameters)
        self.patches, self.told, self.zones = list[Patch](), list[str](), []
        self._scenes = around.create_publisher(SceneMsg, "scene", STATES)
        self._limits = around.create_publisher(MotionConstraints, "motion_constraints", LATCHED)
        self.rules = around.create_publisher(MotionPatch, "motion_patch", PATCHES)
        around.create_subscription(MotionPatch, "motion_patch", self._on_patch, PATCHES)
        around.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)
        self.cycle = around.create_timer(0.05, self._on_cycle)
        here.add(around)

    def start(self, **parameters: object) -> PlanningSceneNode:
        overrides = [Parameter(name, value=value) for name, value in {"robot": "panda", **parameters}.items()]
        node = PlanningSceneNode("planning_scene", context=self._here.context, parameter_overrides=overrides)
        node.trigger_configure()
        node.trigger_activate()
        self._here.add(node)
        return node

    def spin(self, until) -> bool:
        return self._here.spin(until, PATIENCE)

    def limit(self, *zones: Zone) -> None:
        self._limits.publish(MotionConstraints(speed=1.0, joint_share=1.0, zones=list(map(zone_to_msg, zones))))

    @property
    def there(self) -> dict[str, CollisionObject]:
        return self.move_group.world

    @property
    def heeded(self) -> dict[str, Zone]:
        """Zones of the newest patch of the node."""
        return {zone.name: zone for zone in self.patches[-1].zones} if self.patches else {}

    def _on_cycle(self) -> None:
        self.scene = replace(self.scene, time=time.time())
        self._scenes.publish(scene_to_msg(self.scene, ARM.frame, run=1))

    def _on_patch(self, message: MotionPatch) -> None:
        if message.source.startswith("MoveIt"):
            self.patches.append(patch_from_msg(message, ARM.frame)[0])

    def _on_report(self, message: DiagnosticArray) -> None:
        self.told += [status.message for status in message.status if status.name == "/planning_scene"]


def test_moveit_gets_the_objects_and_the_table_and_nothing_twice(here):
    bench = Bench(here)
    assert bench.spin(lambda: {"red block", "vase", "table top"} <= bench.there.keys())
    block, vase = bench.there["red block"], bench.there["vase"]
    assert (block.primitives[0].type, list(block.primitives[0].dimensions)) == (SolidPrimitive.BOX, [0.04, 0.05, 0.06])
    assert list(vase.primitives[0].dimensions) == [0.2, 0.04], "height and radius of a cylinder"
    assert pose_from_msg(block.pose) == Pose(BLOCK.position)
    top = bench.there["table top"]
    assert -0.01 < top.pose.position.z + top.primitives[0].dimensions[2] / 2 < 0.0
    count = len(bench.move_group.diffs)
    assert bench.spin(lambda: any("MoveIt has 3 solids of this robot" in said for said in bench.told))
    assert not here.spin(lambda: len(bench.move_group.diffs) > count, 1.0)
    bench.scene = replace(bench.scene, objects=(replace(BLOCK, position=(0.6, 0.1, 0.02)),))
    assert bench.spin(lambda: "vase" not in bench.there)
    assert bench.there["red block"].pose.position.x == 0.6
    assert bench.move_group.errors == []


def test_what_the_hand_holds_is_attached_to_it_until_it_is_put_down(here):
    bench = Bench(here)
    assert bench.spin(lambda: "red block" in bench.there)
    in_hand = replace(BLOCK, position=T_BASE_GRIP.position)
    bench.scene = replace(bench.scene, objects=(in_hand, VASE), held="red block")
    assert bench.spin(lambda: "red block" in bench.move_group.attached)
    assert "red block" not in bench.there
    attached = bench.move_group.attached["red block"]
    assert attached.link_name == "panda_hand"
    assert set(attached.touch_links) >= {"panda_hand", "panda_leftfinger", "panda_rightfinger"}
    seen = compose(bench.move_group.links["panda_hand"], pose_from_msg(attached.object.pose))
    assert seen.position == pytest.approx(T_BASE_GRIP.position, abs=1e-6)
    count = len(bench.move_group.diffs)
    assert not here.spin(lambda: len(bench.move_group.diffs) > count, 1.0)
    bench.scene = replace(bench.scene, objects=(replace(BLOCK, position=(0.3, 0.3, 0.02)), VASE), held="")
    assert bench.spin(lambda: "red block" in bench.there)
    assert not bench.move_group.attached
    assert bench.there["red block"].pose.position.x == pytest.approx(0.3)
    assert bench.move_group.errors == []


def test_zones_are_there_under_the_name_of_their_rule_while_it_holds(here):
    bench = Bench(here)
    over = Zone("the vase", Shape.BOX, (0.04, 0.04, 5.0), Pose(VASE.position), 0.02, Subject.GRIPPER)
    wall = Zone("the wall", Shape.CAPSULE, (0.1, 0.5), Pose((0.0, 0.8, 0.5)))
    near = replace(over, size=(0.04, 0.04, 0.1), clearance=0.1)
    bench.rules.publish(patch_to_msg(Patch(RULE, 0.0, 4.0, zones=(over,)), ARM.frame))
    bench.rules.publish(patch_to_msg(Patch(OTHER, 0.0, 4.0, zones=(near,)), ARM.frame))
    bench.limit(wall, over, replace(near, clearance=0.05))  # which grows yet
    name, other = f"keep out of the vase ({RULE})", f"keep out of the vase ({OTHER})"
    assert bench.spin(lambda: {name, other} <= bench.there.keys())
    assert list(bench.there[other].primitives[0].dimensions) == pytest.approx([0.18, 0.18, 0.3])
    bench.limit(wall, over, near)
    assert bench.spin(lambda: bench.there[other].primitives[0].dimensions[0] == pytest.approx(0.28))
    assert list(bench.there[name].primitives[0].dimensions) == pytest.approx([0.12, 0.12, 10.04])
    capsule = bench.there["keep out of the wall (the operator's envelope)"]
    assert [one.type for one in capsule.primitives] == [SolidPrimitive.CYLINDER, *2 * [SolidPrimitive.SPHERE]]
    bench.limit(wall)
    assert bench.spin(lambda: name not in bench.there and other not in bench.there)
    assert bench.move_group.errors == []


def test_objects_of_others_become_zones_and_follow_them_and_ours_do_not(here):
    bench = Bench(here)
    assert bench.spin(lambda: "vase" in bench.there)
    bench.move_group.process(box())
    bench.move_group.process(box("floor", position=(0.0, 0.0, -0.1), size=(2.0, 2.0, 0.2)))  # as the table
    assert bench.spin(lambda: "the crate" in bench.heeded)
    assert bench.heeded.keys() == {"the crate"}
    patch = bench.patches[-1]
    assert patch.source == "MoveIt's scene, 1"
    assert patch.zones[0].subject is Subject.ROBOT
    assert patch.expires - patch.stamp < 5.0
    bench.move_group.process(box(position=(0.7, 0.0, 0.2), primitives=[], operation=CollisionObject.MOVE))
    assert bench.spin(lambda: bench.heeded["the crate"].pose.position[0] == pytest.approx(0.7))
    bench.move_group.process(box(position=(0.7, 0.0, 0.2), operation=CollisionObject.APPEND))
    assert bench.spin(lambda: len(bench.patches[-1].zones) == 2)
    bench.limit(*bench.patches[-1].zones)  # as the controller confirms them
    bench.move_group.process(box(operation=CollisionObject.REMOVE))
    assert bench.spin(lambda: bench.patches[-1].says_nothing)
    assert not any(name.startswith("keep out") for name in bench.there)
    assert bench.move_group.errors == []


def test_what_cannot_be_used_is_reported_and_changes_nothing(here):
    bench = Bench(here)
    bench.move_group.process(box())
    assert bench.spin(lambda: "the crate" in bench.heeded)
    wrong = box()
    wrong.pose.position.x = math.nan
    bench.move_group.world["crate"] = wrong
    bench.move_group.process(box("ball", primitives=[SolidPrimitive(type=9, dimensions=[1.0])]))
    reasons = "objects of MoveIt cannot be used: 'crate': pose.position is (nan"
    assert bench.spin(lambda: any(reasons in said and "'ball': primitives[0]" in said for said in bench.told))
    bench.patches.clear()
    assert bench.spin(lambda: bool(bench.patches))
    assert bench.heeded.keys() == {"the crate"}, "where it was"
    bench.move_group.forget()
    assert bench.spin(lambda: bench.told[-1].startswith("MoveIt has"))


def test_a_frame_that_only_transforms_know_is_used(here):
    tf2 = pytest.importorskip("tf2_msgs.msg", reason="tf2_msgs is not installed")
    bench = Bench(here)
    bench.move_group.links["cell"] = HOME
    bench.move_group.frame = "cell"
    bench.move_group.process(box(frame="cell"))
    assert bench.spin(lambda: any("no transform leads from 'cell' to 'panda_link0'" in said for said in bench.told))
    node = rclpy.create_node("cell", context=here.context)
    here.add(node)
    moved = transform_to_msg(0.0, ARM.base, Pose((0.0, 0.0, -0.1)), "cell")
    node.create_publisher(tf2.TFMessage, "/tf_static", LATCHED).publish(tf2.TFMessage(transforms=[moved]))
    assert bench.spin(lambda: "the crate" in bench.heeded)
    assert bench.heeded["the crate"].pose.position == pytest.approx((0.5, 0.0, 0.3))


def test_whoever_starts_again_finds_the_truth(here):
    bench = Bench(here)
    vase = Zone("the vase", Shape.SPHERE, (0.1,), Pose(VASE.position))
    bench.limit(vase)
    zone = "keep out of the vase (the operator's envelope)"
    assert bench.spin(lambda: zone in bench.there)
    bench.move_group.forget()
    assert bench.spin(lambda: bench.there.keys() == {"red block", "vase", "table top", zone})
    bench.node.trigger_deactivate()
    bench.node.trigger_cleanup()
    bench.limit()
    bench.move_group.process(box())
    bench.start()
    assert bench.spin(lambda: zone not in bench.there)
    assert bench.there.keys() == {"red block", "vase", "table top", "crate"}, "what others put there stays"
    assert bench.move_group.errors == []


def test_what_moveit_refuses_is_reported(here):
    bench = Bench(here, hand_link="tool9")
    bench.scene = replace(bench.scene, held="red block")
    assert bench.spin(lambda: "MoveIt does not take red block; see what move_group prints" in bench.told)
    assert "Unable to attach a body to link 'tool9' (link not found)" in bench.move_group.errors


def test_without_a_scene_nothing_is_renewed_and_it_says_so(here):
    bench = Bench(here)
    bench.move_group.process(box())
    assert bench.spin(lambda: "the crate" in bench.heeded)
    bench.cycle.cancel()
    assert bench.spin(lambda: bench.told[-1].startswith("no scene arrives; MoveIt keeps the last one"))
    count = len(bench.patches)
    assert not here.spin(lambda: len(bench.patches) > count, 1.0)
    assert "vase" in bench.there


def test_without_move_group_it_says_so(here):
    bench = Bench(here)
    bench.move_group.die()
    assert bench.spin(
        lambda: any(said.startswith("MoveIt does not answer at get_planning_scene") for said in bench.told)
    )


@pytest.mark.parametrize("robot", ["mobile", "mobile_ur5e"])
def test_a_robot_that_drives_is_refused(here, robot):
    node = PlanningSceneNode(
        "planning_scene", context=here.context, parameter_overrides=[Parameter("robot", value=robot)]
    )
    node.trigger_configure()
    assert "one that drives" in str(node.start_error)
    node.destroy_node()
