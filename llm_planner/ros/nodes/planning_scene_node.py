"""Node that shares the scene and the rules of an arm with MoveIt, and keeps it clear of what MoveIt knows besides.

A few times a second it asks for MoveIt's scene (`get_planning_scene`), so nothing depends on who started first or on a
message that was lost. What MoveIt lacks, or has otherwise, it sends on `planning_scene`: the objects, the one in the
hand attached to it, the table, and the zones in force. Objects of others become zones of a `motion_patch`, which
expires when this node dies.
"""

from __future__ import annotations

import math
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Any

from llm_planner_interfaces.msg import MotionConstraints, MotionPatch
from llm_planner_interfaces.msg import Scene as SceneMsg
from llm_planner_interfaces.msg import Zone as ZoneMsg
from rclpy.task import Future

from llm_planner.control.motion_constraints import MOST_ZONES, Patch
from llm_planner.errors import InputError
from llm_planner.execution.motion_rules import STILL, VALID_FOR
from llm_planner.robots.arm_model import ArmModel, pose_from_mujoco
from llm_planner.robots.robot_description import robot_description
from llm_planner.robots.urdf import subtree
from llm_planner.ros.base_node import ERROR, LATCHED, NEWEST_ONLY, OK, PATCHES, RELIABLE, WARN, BaseNode, run_node
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.motion_messages import patch_to_msg, zones_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.message_types import required_type
from llm_planner.ros.parameters import ROBOT, Setting, arm_of
from llm_planner.ros.transforms import FrameFinder
from llm_planner.scene.geometry import ROUND_KINDS, compose, inverse, upright_pose
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.arm_paths import half_widths

SERVICE, SOURCE = "get_planning_scene", "MoveIt's scene"
ANSWERED = 2.0  # [s, wall time] within which MoveIt answers, or is asked again
FRESH = 2.0  # [s, wall time] without a scene, after which nothing is compared or renewed
TURNED = 0.02  # [rad] by which a solid turns before it is sent again
BELOW = 0.002  # [m] of the table's top in MoveIt below the real one, because touching counts as a collision there
BESIDE, THICK = 0.2, 0.05  # [m] the table there beyond the arm's reach, and half of its thickness
LEVEL = 0.01  # [m] above the table up to which a solid of MoveIt counts as the table, which the arm knows
MOST_SOURCES = 1000  # zones of patches whose sources are remembered


Kind = tuple[str, int, int, tuple[float, ...]]


def kind_of(message: ZoneMsg) -> Kind:
    """Return what a zone in force has in common with that of its patch: all but clearance and pose."""
    return message.name, message.shape, message.subject, tuple(message.size)


@dataclass(frozen=True)
class Placed:
    """Solid in MoveIt's scene; its pose is in the frame of `link` if it is attached to it, else of the arm's base."""

    zone: Zone
    link: str = ""

    def differs(self, other: Placed) -> bool:
        """Return whether the other solid is another one, or elsewhere."""
        a, b = self.zone, other.zone
        if (self.link, a.shape) != (other.link, b.shape):
            return True
        grown = max(abs(x - y) for x, y in zip((*a.size, a.clearance), (*b.size, b.clearance), strict=True))
        aligned = abs(sum(map(float.__mul__, a.pose.orientation, b.pose.orientation)))
        turned = aligned < math.cos(TURNED / 2)
        return turned or max(grown, math.dist(a.pose.position, b.pose.position)) > STILL


def solid_of(item: SceneObject) -> Zone:
    """Return the box of an object, or a cylinder if it is round."""
    pose, (x, y, z) = Pose(item.position, item.orientation), (side / 2 for side in item.size)
    if item.kind in ROUND_KINDS:
        return Zone(item.name, Shape.CYLINDER, (max(x, y), z), pose)
    return Zone(item.name, Shape.BOX, (x, y, z), pose)


def grip_of(arm: ArmModel) -> tuple[str, Pose]:
    """Return the link that bears the hand, and the pose of the grip point in its frame."""
    model, tool = arm.kinematics().model, arm.description
    site = model.site("gripper").id
    grip = pose_from_mujoco(model.site_pos[site], model.site_quat[site])
    if tool is None:
        return arm.hand, grip
    mounted = Pose((*tool.shift, tool.offset), upright_pose(0.0, 0.0, tool.turn).orientation)
    return tool.tool, compose(mounted, grip)


def table_of(arm: ArmModel) -> Zone:
    """Return the table around the arm, in the frame of scenes."""
    half = arm.shape.table_range[1] + BESIDE
    return Zone("table top", Shape.BOX, (half, half, THICK), Pose((*arm.shape.axis, -BELOW - THICK)))


def stands_out(zone: Zone) -> bool:
    """Return whether a solid of MoveIt is more than the table, which the arm knows."""
    return float(zone.pose.position[2] + half_widths(zone)[2]) > LEVEL


class PlanningSceneNode(BaseNode):
    """Compares MoveIt's scene with that of the arm, and sends each what it lacks."""

    SETTINGS = (
        Setting("rate", 4.0, "comparisons with MoveIt's scene a second [Hz]", 0.5, 20.0),
        Setting("hand_link", "", "link in MoveIt's model that bears the hand; empty: as in robot.yaml or its MJCF"),
        Setting("touch_links", "", "links there that touch what is held, e.g. 'a, b'; empty: the hand and its parts"),
        ROBOT,
    )

    def configure(self) -> None:
        arm = arm_of(self)
        if arm is None or arm.mount is not None:
            raise InputError("the parameter robot names one that drives; MoveIt shares the scene of an arm at a table")
        kind = required_type("moveit_msgs.srv", "GetPlanningScene", "MoveIt's planning scene needs")
        from llm_planner.ros.conversions import planning_scene_messages  # needs moveit_msgs

        self._arm, self._convert, self._owner = arm, planning_scene_messages, self.get_fully_qualified_name()
        self._to_base, self._table = inverse(arm.mounting.pose()), table_of(arm)
        link, self._T_link_grip = grip_of(arm)
        self._link = self.setting("hand_link") or link
        named = [one.strip() for one in self.setting("touch_links").split(",") if one.strip()]
        self._touch_links = named or subtree(ElementTree.fromstring(robot_description(arm)), link)
        self._scene: Scene | None = None
        self._zones: tuple[tuple[Kind, Zone], ...] = ()  # in force
        self._sources: dict[Kind, str] = {}  # of patches with such a zone
        self._sent: dict[str, Placed] = {}
        self._new, self._lacking = set[str](), set[str]()  # sent after the last answer; still not there
        self._obstacles: dict[str, tuple[Zone, ...]] = {}  # of others, by the name of the object
        self._flaws: tuple[str, ...] = ()
        self._patched, self._epoch = 0, time.time_ns()
        self._asked: Future | None = None
        self._asked_at = self._answered = self._seen = -math.inf  # [s, monotonic]
        self._frames = FrameFinder(self, arm.frame, "objects of MoveIt")
        self._client = self.create_client(kind, SERVICE)
        scene_type = required_type("moveit_msgs.msg", "PlanningScene", "MoveIt's planning scene needs")
        self._topic = self.create_lifecycle_publisher(scene_type, "planning_scene", RELIABLE)
        self._patches = self.create_lifecycle_publisher(MotionPatch, "motion_patch", PATCHES)
        seen = validated(self, SceneReader.of(self, arm.name).read, self._on_scene, "a scene cannot be used: ")
        self.create_subscription(SceneMsg, "scene", seen, NEWEST_ONLY)
        limited = validated(self, self._on_constraints)
        self.create_subscription(MotionConstraints, "motion_constraints", limited, LATCHED)
        self.create_subscription(MotionPatch, "motion_patch", self._on_patch, PATCHES)
        self.every(1.0 / self.setting("rate"), self._on_tick)
        self.report_with(self._on_diagnose)

    @property
    def _is_seen(self) -> bool:
        return time.monotonic() <= self._seen + FRESH

    def _on_scene(self, scene: Scene) -> None:
        self._scene, self._seen = scene, time.monotonic()

    def _on_constraints(self, message: MotionConstraints) -> None:
        self._zones = tuple(zip(map(kind_of, message.zones), zones_from_msg(message.zones), strict=True))

    def _on_patch(self, message: MotionPatch) -> None:
        for kind in map(kind_of, message.zones):
            self._sources.pop(kind, None)
            self._sources[kind] = message.source  # as the newest
        while len(self._sources) > MOST_SOURCES:
            del self._sources[next(iter(self._sources))]

    def _on_tick(self) -> None:
        if not self.is_active or self._scene is None or not self._is_seen:
            return
        self._keep_clear(self._scene.time)
        if self._asked is not None and time.monotonic() > self._asked_at + ANSWERED:
            self._client.remove_pending_request(self._asked)
            self._asked = None
        if self._asked is None and self._client.service_is_ready():
            self._asked, self._asked_at = self._client.call_async(self._convert.scene_request()), time.monotonic()
            self._asked.add_done_callback(partial(self.background, self._on_answer))

    def _on_answer(self, asked: Future) -> None:
        if asked is not self._asked or self._scene is None:
            return
        self._asked, self._answered = None, time.monotonic()
        there = asked.result().scene
        self._take(there, self._scene)
        self._send(there, self._scene)

    # In

    def _take(self, there: Any, scene: Scene) -> None:
        """Remember the objects of others; what cannot be read stays as it was."""
        obstacles, flaws, known = dict[str, tuple[Zone, ...]](), list[str](), set(scene.names)
        try:
            others = self._convert.other_objects(there)
        except InputError as error:
            self._flaws = (str(error),)
            return
        for one in others:
            if one.id in known:
                continue  # the same thing, under the same name
            try:
                found = self._convert.obstacle_from_msg(one, lambda frame: self._find_frame(frame, scene.time))
                zones = tuple(zone for zone in found if stands_out(zone))
            except InputError as error:
                zones = self._obstacles.get(one.id, ())
                flaws.append(f"{one.id[:80]!r}: {error}")
            if zones:
                obstacles[one.id] = zones
        if flaws and tuple(flaws) != self._flaws:
            self.get_logger().error(f"objects of MoveIt cannot be used: {'; '.join(flaws)[:500]}")
        self._obstacles, self._flaws = obstacles, tuple(flaws)

    def _find_frame(self, frame: str, at: float) -> Pose:
        return self._arm.mounting.pose() if frame == self._arm.base else self._frames.find(frame, at)

    def _keep_clear(self, now: float) -> None:
        """Renew the patches that keep the robot clear of the obstacles; withdraw those that are left over."""
        zones = [zone for found in self._obstacles.values() for zone in found]
        parts = [tuple(zones[k : k + MOST_ZONES]) for k in range(0, len(zones), MOST_ZONES)]
        before, self._patched = self._patched, len(parts)
        for number, part in enumerate(parts + [()] * (before - len(parts)), start=1):
            patch = Patch(f"{SOURCE}, {number}", now, now + VALID_FOR, self._epoch, zones=part)
            self._patches.publish(patch_to_msg(patch, self._arm.frame))

    # Out

    def _send(self, there: Any, scene: Scene) -> None:
        """Send MoveIt what it lacks or has otherwise, and remove what is there of ours and no longer holds."""
        convert, wanted, have = self._convert, self._wanted(scene), self._convert.own_objects(there, self._owner)
        self._lacking = self._new & wanted.keys() - have.keys()
        self._new.clear()
        objects, attached = [], []
        for name, placed in wanted.items():
            sent, is_attached = self._sent.get(name), have.get(name)
            if sent is not None and is_attached == bool(placed.link) and not placed.differs(sent):
                continue
            self._new.add(name)
            frame = placed.link or self._arm.base
            message = convert.solid_to_msg(name, placed.zone, frame, scene.time, self._owner)
            if placed.link:
                attached.append(convert.attached_to_msg(message, self._touch_links))
                continue
            attached += [convert.detached_to_msg(name)] if is_attached else []
            objects.append(message)
        for name in have.keys() - wanted.keys():
            attached += [convert.detached_to_msg(name)] if have[name] else []
            objects.append(convert.removed_to_msg(name))
        self._sent = {name: wanted[name] if name in self._new else self._sent[name] for name in wanted}
        if objects or attached:
            self._topic.publish(convert.diff_to_msg(objects, attached))

    def _wanted(self, scene: Scene) -> dict[str, Placed]:
        """Return what MoveIt is to have of us, by name."""
        found = {self._table.name: Placed(self._in_base(self._table))}
        for item in scene.objects:
            solid = solid_of(item)
            if item.name == scene.held and scene.robot is not None:
                pose = compose(self._T_link_grip, compose(inverse(scene.robot), solid.pose))
                found[item.name] = Placed(replace(solid, pose=pose), self._link)
            else:
                found[item.name] = Placed(self._in_base(solid))
        for kind, zone in self._zones:
            source = self._sources.get(kind, "the operator's envelope")
            if not source.startswith(SOURCE):
                named = f"keep out of {zone.name} ({source})"
                names = chain([named], (f"{named} {number}" for number in count(2)))
                found[next(name for name in names if name not in found)] = Placed(self._in_base(zone))
        return found

    def _in_base(self, zone: Zone) -> Zone:
        return replace(zone, pose=compose(self._to_base, zone.pose))

    def _on_diagnose(self) -> None:
        zones = sum(map(len, self._obstacles.values()))
        values = [("shared", ", ".join(self._sent)), ("heeded", ", ".join(self._obstacles)), ("zones", zones)]
        if not self._is_seen:
            self.report(ERROR, "no scene arrives; MoveIt keeps the last one, and its objects are not heeded", values)
        elif self._flaws:
            self.report(ERROR, f"objects of MoveIt cannot be used: {'; '.join(self._flaws)[:1000]}", values)
        elif time.monotonic() > self._answered + 2 * ANSWERED:
            self.report(WARN, f"MoveIt does not answer at {SERVICE}: is move_group running in this namespace?", values)
        elif self._lacking:
            told = ", ".join(sorted(self._lacking))
            self.report(WARN, f"MoveIt does not take {told}; see what move_group prints", values)
        else:
            told = f"MoveIt has {len(self._sent)} solids of this robot; {len(self._obstacles)} of its own are heeded"
            self.report(OK, told, values)


def main() -> None:
    run_node(PlanningSceneNode, "planning_scene")


if __name__ == "__main__":
    main()
