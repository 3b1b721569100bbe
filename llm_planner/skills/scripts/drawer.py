"""Scripts that open and close a drawer by its handle.

Each continues from the current state of hand and drawer and omits the steps that are done already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from llm_planner.scene.furniture import DRAWN
from llm_planner.scene.geometry import top
from llm_planner.scene.names import the
from llm_planner.scene.predicates import closed, open_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.arm import SQUEEZE, Arm, Script
from llm_planner.skills.arm_paths import in_funnel
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode
from llm_planner.skills.footprints import turned
from llm_planner.skills.grasps import Handle, check_slide, handle_of
from llm_planner.skills.hand_geometry import Aim, HandPose, nearer_half_turn, wrap
from llm_planner.skills.motion import Leg

SPEED = 0.4  # share of full speed while the drawer slides
OPENING = 0.05  # [m] finger opening on the way to the handle
ALONG, LOW, TURNED = 0.020, 0.010, 0.5  # [m], [m], [rad] offset from the handle up to which fingers are around its stem
ASKEW, ASKEW_TURN = 0.010, 0.12  # [m], [rad] offset beyond which the hand is aligned before the fingers close
SPARE = 0.01  # [m] opening beyond the stem's width that the fingers need to descend around it
OVER = 0.004  # [m] fingertips above the handle; below that they must be open and on its axis
MOVED = 0.004  # [m] motion of the drawer during an approach that makes the script plan it again
DRAWER_ATTEMPTS = 6  # motions to the handle or with it
LEFT = 0.05  # [m] fingertips above the drawer after the retreat
NEAR = 0.05  # [m] horizontal distance from the handle beyond which no retreat is needed


def open_drawer(arm: Arm, arguments: Arguments) -> Script:
    """Pull the drawer `object` out by its handle and release it."""
    yield from _slid(arm, str(arguments["object"]), DRAWN, open_)


def close_drawer(arm: Arm, arguments: Arguments) -> Script:
    """Push the drawer `object` in by its handle and release it."""
    yield from _slid(arm, str(arguments["object"]), 0.0, closed)


def _slid(arm: Arm, name: str, goal: float, achieved: Callable[[Scene, str], bool]) -> Script:
    for _ in range(DRAWER_ATTEMPTS):
        item = arm.find(name)
        opened = handle_of(item, goal)
        numbers = {"width": opened.width, "cruise": arm.cruise_height() - opened.grip.z}
        arm.aim = Aim(opened.grip, numbers, opened.heading)
        if achieved(arm.scene, name):
            break
        check_slide(arm.scene, item, goal, OPENING, arm.observation.zones)
        handle = handle_of(item, item.state)
        if _is_around(arm, handle):
            yield from _align(arm, handle)
            yield from arm.fingers("grasp", max(0.0, handle.width - SQUEEZE))
            yield from _slide(arm, name, goal)
        else:
            yield from _approach(arm, item, handle)
    yield from _leave_handle(arm, arm.find(name))
    if not achieved(arm.scene, name):
        out = 100 * arm.find(name).state
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} is {out:.1f} cm out instead of {100 * goal:.1f} cm"
        )


def _approach(arm: Arm, item: SceneObject, handle: Handle) -> Script:
    """Move open fingers to the handle; stop early if the drawer moves while the hand is still above it."""
    goal, apex = _alike(arm.grip, handle.grip), top(item) + arm.gripper.tip + OVER
    if arm.observation.gripper_width < handle.width + SPARE and in_funnel(arm.grip, goal, apex):
        yield from arm.fingers("open", OPENING)
    arm.width = OPENING
    over = arm.grip.z >= apex
    legs = arm.straight_down(goal, apex, arm.opened(OPENING), {item.name}) if over else []
    for reference in arm.move("approach", legs or arm.travel(handle.grip, arm.cruise_height())):
        yield reference
        is_over = arm.observation.T_base_gripper.position[2] > top(item) + arm.gripper.tip
        if is_over and abs(arm.find(item.name).state - item.state) > MOVED:
            break
    arm.grip = arm.hand


def _align(arm: Arm, handle: Handle) -> Script:
    """Align a hand that is askew to the stem between its fingers; it would jam while closing or rising."""
    along, _ = handle.seen(arm.grip)
    goal = _alike(arm.grip, handle.grip)
    if abs(along) > ASKEW or abs(goal.yaw - arm.grip.yaw) > ASKEW_TURN:
        arm.width = max(OPENING, arm.observation.gripper_width)
        yield from arm.move("align", [Leg(goal, SPEED)], stop_early=True, straight=True)


def _is_around(arm: Arm, handle: Handle) -> bool:
    """Return whether the stem is between the fingers, so that they only have to close."""
    along, across = handle.seen(arm.grip)
    turned = abs(wrap(arm.grip.yaw - handle.grip.yaw, math.pi))
    level = abs(arm.grip.z - handle.grip.z) <= LOW and abs(along) <= ALONG and turned <= TURNED
    return level and abs(across) <= (arm.observation.gripper_width - handle.width) / 2 + 0.003


def _alike(hand: HandPose, goal: HandPose) -> HandPose:
    """Return `goal` or its half turn, whichever is nearer to the yaw of the hand."""
    return replace(goal, yaw=nearer_half_turn(goal.yaw, hand.yaw))


def _slide(arm: Arm, name: str, goal: float) -> Script:
    """Move straight by the remaining travel of the drawer."""
    item = arm.find(name)
    arm.grip = arm.hand
    handle = handle_of(item, item.state)
    dx, dy = turned((item.state - goal, 0.0), handle.heading)
    end = replace(arm.grip, x=arm.grip.x + dx, y=arm.grip.y + dy, yaw=_alike(arm.grip, handle.grip).yaw)
    yield from arm.move("slide", [Leg(end, SPEED)], stop_early=True, straight=True)


def _leave_handle(arm: Arm, item: SceneObject) -> Script:
    """Release the handle and rise, unless the hand has left it already."""
    arm.grip = arm.hand
    handle, height = handle_of(item, item.state), top(item) + LEFT + arm.gripper.tip
    if math.dist((arm.grip.x, arm.grip.y), (handle.grip.x, handle.grip.y)) > NEAR or arm.grip.z >= height:
        return
    if _is_around(arm, handle):
        yield from _align(arm, handle)
        if arm.observation.gripper_width < handle.width + SPARE:
            yield from arm.fingers("release", OPENING)
    yield from arm.move("retreat", [arm.rise(height)])
