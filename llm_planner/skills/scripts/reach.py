"""Reach: the fingertips above an object, the hand down."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument
from llm_planner.skills.descent import in_funnel, is_clear
from llm_planner.skills.footprints import footprint
from llm_planner.skills.gripper_shape import Grip, comfortable_yaw, hand_slices
from llm_planner.skills.motion import Leg
from llm_planner.skills.reach import check_reach
from llm_planner.world.geometry import top
from llm_planner.world.names import the
from llm_planner.world.scene import SceneObject

HOVER = 0.06  # [m] of the grip point over the object's top


def reach(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves the point between the fingertips 6 cm above the top of `object`."""
    item = arm.find(str(arguments["object"]))
    check_reach(item.position[0], item.position[1], the(item.name))
    goal, width = hover(item), arm.observation.gripper_width
    arm.aim = Aim(goal, {"cruise": arm.cruise_height() - goal.z})
    way = [arm.grip, goal]
    if in_funnel(arm.grip, goal, goal.z) and is_clear(
        way, lambda at: hand_slices(at, width), arm.scene, (), arm.observation.zones
    ):
        yield from arm.move("approach", [Leg(goal)])
    else:
        yield from arm.move("approach", arm.travel(goal, arm.cruise_height()))


def hover(item: SceneObject) -> Grip:
    """The hand above the object, straight to its sides."""
    x, y, _ = item.position
    return Grip(x, y, top(item) + HOVER, comfortable_yaw(x, y, footprint(item).yaw))
