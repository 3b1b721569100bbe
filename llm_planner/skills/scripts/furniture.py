"""Scripts at furniture: open and close a drawer by its handle, press a button.

Each script continues from the current state of hand and furniture and omits the steps that are done already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from llm_planner.programs.values import Argument
from llm_planner.scene.furniture import DRAWN
from llm_planner.scene.geometry import top
from llm_planner.scene.names import the
from llm_planner.scene.predicates import closed, lit, open_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.arm import SQUEEZE, Arm, Script
from llm_planner.skills.arm_paths import in_funnel, is_clear
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.grasps import Handle, check_slide, handle_of, pressing_grip
from llm_planner.skills.hand_geometry import Aim, HandPose, hand_slices, nearer_half_turn, room, wrap
from llm_planner.skills.motion import Leg

SPEED = 0.4  # share of full speed while the drawer slides
OPENING = 0.05  # [m] finger opening on the way to the handle
ALONG, LOW, TURNED = 0.020, 0.010, 0.5  # [m], [m], [rad] offset from the handle up to which fingers are around its stem
ASKEW, ASKEW_TURN = 0.010, 0.12  # [m], [rad] offset beyond which the hand is aligned before the fingers close
SPARE = 0.01  # [m] opening beyond the stem's width that the fingers need to descend around it
OVER = 0.004  # [m] fingertips above the handle; below that they must be open and on its axis
MOVED = 0.004  # [m] motion of the drawer during an approach that makes the script plan it again
DRAWER_ATTEMPTS = 6  # motions to the handle or with it
LEFT = 0.05  # [m] fingertips above the drawer or button after the retreat
NEAR = 0.05  # [m] horizontal distance from handle or button beyond which no retreat is needed


def open_drawer(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Pull the drawer `object` out by its handle and release it."""
    yield from _slid(arm, str(arguments["object"]), DRAWN, open_)


def close_drawer(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Push the drawer `object` in by its handle and release it."""
    yield from _slid(arm, str(arguments["object"]), 0.0, closed)


def _slid(arm: Arm, name: str, goal: float, achieved: Callable[[Scene, str], bool]) -> Script:
    for _ in range(DRAWER_ATTEMPTS):
        item = arm.find(name)
        arm.aim = _aim(arm, item, goal)
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


def _aim(arm: Arm, item: SceneObject, goal: float) -> Aim:
    handle = handle_of(item, goal)
    numbers = {"width": handle.width, "cruise": arm.cruise_height() - handle.grip.z}
    return Aim(handle.grip, numbers, handle.heading)


def _approach(arm: Arm, item: SceneObject, handle: Handle) -> Script:
    """Move open fingers to the handle; stop early if the drawer moves while the hand is still above it."""
    if arm.observation.gripper_width < handle.width + SPARE and _is_above(arm, item, handle):
        yield from arm.fingers("open", OPENING)
    arm.width = OPENING
    for reference in arm.move("approach", _handle_path(arm, item, handle)):
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


def _is_above(arm: Arm, item: SceneObject, handle: Handle) -> bool:
    return in_funnel(arm.grip, _alike(arm.grip, handle.grip), top(item) + arm.gripper.tip + OVER)


def _handle_path(arm: Arm, item: SceneObject, handle: Handle) -> list[Leg]:
    """Plan straight down from above the handle, otherwise up, over and down."""
    goal, apex = _alike(arm.grip, handle.grip), top(item) + arm.gripper.tip + OVER
    if in_funnel(arm.grip, goal, apex) and arm.grip.z >= apex:
        legs = arm.descent(goal, apex)
        corners = [arm.grip, *(leg.to for leg in legs)]
        if is_clear(
            corners, lambda at: hand_slices(at, OPENING, arm.gripper), arm.scene, {item.name}, arm.observation.zones
        ):
            return legs
    return arm.travel(handle.grip, arm.cruise_height())


def _alike(hand: HandPose, goal: HandPose) -> HandPose:
    """Return `goal` or its half turn, whichever is nearer to the yaw of the hand."""
    return replace(goal, yaw=nearer_half_turn(goal.yaw, hand.yaw))


def _slide(arm: Arm, name: str, goal: float) -> Script:
    """Move straight by the remaining travel of the drawer."""
    item = arm.find(name)
    arm.grip = arm.hand
    handle = handle_of(item, item.state)
    way = item.state - goal
    end = _alike(arm.grip, handle.grip)
    c, s = math.cos(handle.heading), math.sin(handle.heading)
    end = replace(end, x=arm.grip.x + way * c, y=arm.grip.y + way * s, z=arm.grip.z)
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


DEPTH = 0.9  # share of the cap's travel
CLEAR = 0.01  # [m] above the cap, from where the hand only has to descend
DWELL = 3  # [skill periods] at the lowest point
PRESS_ATTEMPTS = 2


def press(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Press the button `object` with closed fingers until its lamp is lit."""
    name = str(arguments["object"])
    for _ in range(PRESS_ATTEMPTS):
        item = arm.find(name)
        if lit(arm.scene, name):
            break
        on = pressing_grip(arm.scene, item)
        sliding = spec_of(item).shape.sliding
        depth = DEPTH * (sliding.travel if sliding else 0.0)
        arm.aim = Aim(on, {"depth": depth, "cruise": arm.cruise_height() - on.z})
        if not arm.is_closed:
            yield from _close(arm)
        yield from _press(arm, item, on, on.raised(on.z - depth))
    yield from _leave_button(arm, arm.find(name))
    if not lit(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was pressed, and its lamp is dark")


def _close(arm: Arm) -> Script:
    """Close the fingers; if an object is between them, rise above it first."""
    if room(hand_slices(arm.grip, 0.0, arm.gripper), arm.scene)[0] < 0.0:
        yield from arm.move("rise", [arm.rise(arm.cruise_height())])
    yield from arm.fingers("close", 0.0)


def _press(arm: Arm, item: SceneObject, on: HandPose, down: HandPose) -> Script:
    """Press down and stay for a moment, so that a policy learned from this motion learns the depth."""
    yield from arm.move("press", _button_path(arm, item, on, down), stop_early=True)
    for _ in range(DWELL):
        yield arm.hold()
    arm.grip = arm.hand


def _button_path(arm: Arm, item: SceneObject, on: HandPose, down: HandPose) -> list[Leg]:
    """Plan straight down from above the button, otherwise up, over and down."""
    apex = on.z + CLEAR
    if in_funnel(arm.grip, down, apex):
        legs = arm.descent(down, apex)
        corners = [arm.grip, *(leg.to for leg in legs)]
        if is_clear(
            corners, lambda at: hand_slices(at, 0.0, arm.gripper), arm.scene, {item.name}, arm.observation.zones
        ):
            return legs
    return arm.travel(down, arm.cruise_height())


def _leave_button(arm: Arm, item: SceneObject) -> Script:
    """Rise from the button, unless the hand has left it already."""
    height = top(item) + LEFT + arm.gripper.tip
    if arm.grip.z < height and math.dist((arm.grip.x, arm.grip.y), item.position[:2]) <= NEAR:
        yield from arm.move("retreat", [arm.rise(height)])
