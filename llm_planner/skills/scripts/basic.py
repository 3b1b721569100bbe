"""Scripts that touch no object: open and close the gripper, go home, reach above an object, wait."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.programs.values import Argument
from llm_planner.scene.geometry import top
from llm_planner.scene.names import the
from llm_planner.scene.scene import SceneObject
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.arm_paths import in_funnel, is_clear, way_over
from llm_planner.skills.base import Base
from llm_planner.skills.footprints import footprint
from llm_planner.skills.hand_geometry import Aim, HandPose, check_reach, comfortable_yaw, hand_slices, rest_pose
from llm_planner.skills.motion import Leg


def open_gripper(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Open the fingers fully without moving the hand."""
    yield from arm.fingers("open", arm.gripper.widest)


def close_gripper(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Close the fingers, or press them against an object between them, without moving the hand."""
    yield from arm.fingers("close", 0.0)


def go_home(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Rise above all objects, then move to the rest posture."""
    corners = way_over(arm.scene, arm.grip, rest_pose(arm.shape), arm.cruise_height(), arm.observation.zones)
    yield from arm.move("home", [Leg(corner) for corner in corners])


def wait(body: Arm | Base, arguments: Mapping[str, Argument]) -> Script:
    """Hold still for `seconds` [s]."""
    yield from body.rest("wait", float(str(arguments["seconds"])))


HOVER = 0.06  # [m] grip point above the object's top


def reach(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Move the grip point to `HOVER` above the top of `object`."""
    item = arm.find(str(arguments["object"]))
    check_reach(item.position[0], item.position[1], the(item.name), arm.shape)
    goal, width = hover(item, arm.shape.neutral), arm.observation.gripper_width
    arm.aim = Aim(goal, {"cruise": arm.cruise_height() - goal.z})
    way = [arm.grip, goal]
    if in_funnel(arm.grip, goal, goal.z) and is_clear(
        way, lambda at: hand_slices(at, width, arm.gripper), arm.scene, (), arm.observation.zones
    ):
        yield from arm.move("approach", [Leg(goal)])
    else:
        yield from arm.move("approach", arm.travel(goal, arm.cruise_height()))


def hover(item: SceneObject, neutral: float = 0.0) -> HandPose:
    """Return the grip at `HOVER` above the object, aligned with its sides."""
    x, y, _ = item.position
    return HandPose(x, y, top(item) + HOVER, comfortable_yaw(x, y, footprint(item).yaw, neutral))
