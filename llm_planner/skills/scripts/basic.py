"""Motions that touch no object: go home, and the place above an object."""

from __future__ import annotations

from llm_planner.scene.geometry import top
from llm_planner.scene.scene import SceneObject
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.arm_paths import way_over
from llm_planner.skills.contract import Arguments
from llm_planner.skills.footprints import footprint
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, rest_pose
from llm_planner.skills.motion import Leg


def go_home(arm: Arm, arguments: Arguments) -> Script:
    """Rise above all objects, then move to the rest posture."""
    corners = way_over(arm.scene, arm.grip, rest_pose(arm.shape), arm.cruise_height(), arm.observation.zones)
    yield from arm.move("home", [Leg(corner) for corner in corners])


HOVER = 0.06  # [m] grip point above the object's top


def hover(item: SceneObject, neutral: float = 0.0) -> HandPose:
    """Return the grip at `HOVER` above the object, aligned with its sides."""
    x, y, _ = item.position
    return HandPose(x, y, top(item) + HOVER, comfortable_yaw(x, y, footprint(item).yaw, neutral))
