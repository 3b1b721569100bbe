"""Tip: closed fingers under the upper rim of what stands roll it over its far lower edge; then away from it.

Pushed straight ahead a mug slides: the friction of the fingers holds its near side down. On the arc on which that side
rises, the same friction lifts it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.footprints import Footprint, footprint, is_upright, separation
from llm_planner.skills.gripper_shape import TIP, Grip, comfortable_yaw
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripts.slide import get_behind, is_behind, leave
from llm_planner.skills.sliding import FINGER, RUN_UP, Stroke, extent
from llm_planner.world.geometry import half_extents, rotation_matrix, top
from llm_planner.world.names import the
from llm_planner.world.places import Point2
from llm_planner.world.predicates import toppled
from llm_planner.world.scene import SceneObject

DEPTH = 0.012  # [m] of the fingertips below the rim that they push against
TILTS = tuple(map(math.radians, (10, 20, 30, 40, 50, 60)))  # up to which the fingers go along with it
SPEED = 0.5  # of the full speed
STROKES = 12
DIRECTIONS = 16
LANDING = 0.02  # [m] of free table around where the thing comes to lie


def tip(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` lying; raises SkillError (NO_FREE_SPACE) where it has no room to fall, (EFFECT_MISSING)."""
    name = str(arguments["object"])
    for _ in range(STROKES):
        if toppled(arm.scene, arm.find(name).name):
            break
        stroke = _stroke(arm, arm.find(name))
        if is_upright(stroke.item):  # of what is falling already, the aim stays
            arm.aim = Aim(stroke.start, {"cruise": arm.cruise_height() - stroke.start.z}, _heading(stroke))
        yield from _roll_over(arm, stroke) if is_behind(arm, stroke) else get_behind(arm, stroke)
    yield from leave(arm, name)
    if not toppled(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} still stands")


def _stroke(arm: Arm, item: SceneObject) -> Stroke:
    """The one with room for the hand and for the fall that pushes most across the thing's own x axis: its handle."""
    rows = rotation_matrix(item.orientation)
    refusal = SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no room for {the(item.name)} to fall over")
    angles = [math.atan2(rows[1][1], rows[0][1]) + 2 * math.pi * k / DIRECTIONS for k in range(DIRECTIONS)]
    for angle in sorted(angles, key=lambda angle: round(abs(math.sin(angle - angles[0])), 3)):
        stroke = _against_rim(item, angle)
        try:
            _check_fall(arm, stroke)
            stroke.check(arm.scene, arm.observation.zones)
        except SkillError as error:
            refusal = error
            continue
        return stroke
    raise refusal


def _heading(stroke: Stroke) -> float:
    return math.atan2(stroke.direction[1], stroke.direction[0])


def _against_rim(item: SceneObject, angle: float) -> Stroke:
    direction = math.cos(angle), math.sin(angle)
    behind = _beside(item, direction, -RUN_UP, 0.0)
    start = replace(behind, yaw=comfortable_yaw(behind.x, behind.y, angle))
    end = replace(_beside(item, direction, 0.0, TILTS[-1]), yaw=start.yaw)
    return Stroke(item, direction, math.dist((start.x, start.y), (end.x, end.y)) - RUN_UP, start, end)


def _beside(item: SceneObject, direction: Point2, ahead: float, tilt: float) -> Grip:
    """The fingers under its near rim, or so much `ahead` of that [m], when it is tilted by `tilt` [rad]."""
    (ux, uy), (x, y, _) = direction, item.position
    half, high = extent(item, math.atan2(uy, ux)), top(item) - DEPTH
    along = half - 2 * half * math.cos(tilt) + high * math.sin(tilt) - FINGER + ahead
    height = high * math.cos(tilt) + 2 * half * math.sin(tilt)
    return Grip(x + along * ux, y + along * uy, height + TIP, 0.0)


def _roll_over(arm: Arm, stroke: Stroke) -> Script:
    grips = [_beside(stroke.item, stroke.direction, 0.0, tilt) for tilt in (0.0, *TILTS)]
    yield from arm.move("push", [Leg(replace(grip, yaw=stroke.start.yaw), SPEED) for grip in grips], straight=True)


def _check_fall(arm: Arm, stroke: Stroke) -> None:
    item, (ux, uy) = stroke.item, stroke.direction
    half = (item.size[2] + max(half_extents(item)[:2])) / 2
    x, y, _ = item.position
    lying = Footprint((x + ux * half, y + uy * half), (half, max(half_extents(item)[:2])), math.atan2(uy, ux))
    for other in arm.scene.objects:
        if other.name != item.name and separation(lying, footprint(other)) < LANDING:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"{the(item.name)} would fall on {the(other.name)}; move that away first",
            )
