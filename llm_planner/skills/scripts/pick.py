"""Pick: go above the object, down around it, close, lift; whatever of that is still to be done."""

from __future__ import annotations

import math
from collections.abc import Mapping

from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import SQUEEZE, Arm, Script, hanging
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.descent import in_funnel, is_clear
from llm_planner.skills.errors import SkillError
from llm_planner.skills.grasps import Grasp, choose_grasp
from llm_planner.skills.gripper_shape import TIP, hand_slices, wrap
from llm_planner.skills.motion import Leg
from llm_planner.world.geometry import bottom, top
from llm_planner.world.names import the

MOVED = 0.006  # [m] an object that has moved this much since the grasp was chosen is looked at again
ATTEMPTS = 2
LIFT_LEAST = 0.03  # [m] that the hand rises after it has closed
OVER = 0.004  # [m] of the fingertips over the object's top, where they have to be on its axis and open
SPREAD, SPREAD_SLOPE = 0.006, 0.5  # [m] wider than the object there, and less by that for each metre above
TOUCHING = 0.003  # [m] narrower than the object fingers may measure that are around it
THERE, THERE_TURNED = 0.006, 0.06  # [m], [rad] a hand this near to its grasp only has to close


def pick(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` in the fingers, lifted above everything else on the table."""
    name = str(arguments["object"])
    if arm.scene.held == name:
        yield from _lift_on(arm, name)
    else:
        yield from _take(arm, name)
        yield from _lift(arm, name, arm.grip.z + LIFT_LEAST)


def _take(arm: Arm, name: str) -> Script:
    for attempt in range(ATTEMPTS):
        grasp = choose_grasp(arm.scene, arm.find(name))
        arm.aim = _aim(arm, name, grasp)
        yield from _go_around(arm, name, grasp)
        yield from arm.fingers("close", max(0.0, grasp.width - SQUEEZE))
        if arm.scene.held == name:
            return
        yield from arm.fingers("open", grasp.opening)
        if attempt == ATTEMPTS - 1:
            raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed without taking hold of {the(name)}")
        yield from arm.retreat()


def _aim(arm: Arm, name: str, grasp: Grasp) -> Aim:
    height = grasp.grip.z
    hanging_then = max(TIP, height - bottom(arm.find(name)))
    numbers = {
        "opening": grasp.opening,
        "width": grasp.width,
        "cruise": arm.cruise_height() - height,
        "lift": arm.cruise_height(hanging_then, ignore=name) - height,
    }
    return Aim(grasp.grip, numbers)


def _go_around(arm: Arm, name: str, grasp: Grasp) -> Script:
    if not _is_around(arm, grasp):
        arm.width = grasp.opening
    position = arm.find(name).position
    yield from arm.move("approach", _way(arm, name, grasp))
    if math.dist(arm.find(name).position, position) > MOVED:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} moved while the hand was on its way; try again")


def _is_around(arm: Arm, grasp: Grasp) -> bool:
    """Whether only closing is left, or going on with it."""
    hand, goal = arm.grip, grasp.grip
    near = math.dist((hand.x, hand.y, hand.z), (goal.x, goal.y, goal.z)) <= THERE
    return near and abs(wrap(hand.yaw - goal.yaw)) <= THERE_TURNED and _spread(arm, grasp) >= -TOUCHING


def _spread(arm: Arm, grasp: Grasp) -> float:
    """How much wider than the object the fingers are [m]."""
    return arm.observation.gripper_width - grasp.width


def _way(arm: Arm, name: str, grasp: Grasp) -> list[Leg]:
    """Straight down from above with open fingers, or, lower, with the object between them; else from above."""
    item, goal = arm.find(name), grasp.grip
    apex = max(goal.z, top(item) + TIP + OVER)
    over = arm.grip.z - apex
    wide = SPREAD - SPREAD_SLOPE * over if over > 0.0 else -TOUCHING
    if in_funnel(arm.grip, goal, apex) and _spread(arm, grasp) >= wide:
        legs = arm.descent(goal, apex)
        corners = [arm.grip, *(leg.to for leg in legs)]
        if is_clear(corners, lambda at: hand_slices(at, grasp.opening), arm.scene, {name}, arm.observation.zones):
            return legs
    return arm.travel(goal, arm.cruise_height())


def _lift_on(arm: Arm, name: str) -> Script:
    """What is held already: as high as it would have been lifted."""
    height = arm.cruise_height(hanging(arm, name), ignore=name)
    if arm.grip.z < height - arm.settings.arrived:
        yield from _lift(arm, name, height)


def _lift(arm: Arm, name: str, least: float) -> Script:
    hand, before = arm.grip.z, arm.find(name).position[2]
    height = max(arm.cruise_height(hanging(arm, name), ignore=name), least)
    yield from arm.move("lift", [arm.rise(height)])
    arm.require_held(name)
    if arm.find(name).position[2] < before + min(0.02, 0.5 * (arm.grip.z - hand)):
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} stayed behind when the hand rose")
