"""Wipe: what the fingers hold down onto the stain, there and back over it until it is gone, up again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, Script, hanging
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.descent import in_funnel, is_clear
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import grip_of, wrap
from llm_planner.skills.motion import Leg
from llm_planner.skills.placement import Held, held_in
from llm_planner.skills.wiping import Strokes, choose_strokes, parts_of
from llm_planner.world.geometry import bottom
from llm_planner.world.names import the
from llm_planner.world.predicates import clean

SPEED = 0.5  # of the full speed
PASSES = (0, 0, 0, 1, 2)  # strokes more than are needed, one pass after the other
ON_TABLE = 0.004  # [m] over the table what is held counts as lying on it
TURNED = 0.2  # [rad] off the strokes' turn, at most, it is drawn straight to where they begin
NEAR = 0.15  # [m] from there
LIFT = 0.05  # [m] over the table, in the end


def wipe(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Wipes away the stain `object` with what is held."""
    name, carried = str(arguments["object"]), arm.scene.held
    for extra in PASSES:
        if clean(arm.scene, name):
            break
        held = held_in(arm.scene, arm.grip, arm.observation.gripper_width)
        patch = arm.find(name)
        strokes = choose_strokes(arm.scene, held, patch, extra, arm.observation.zones)
        arm.aim = _aim(arm, held, strokes)
        yield from _wiped(arm, name, held, strokes)
        arm.require_held(carried)
    yield from _leave(arm, carried)
    if not clean(arm.scene, name):
        left = 100 * arm.find(name).state
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{left:.0f} % of {the(name)} are left")


def _aim(arm: Arm, held: Held, strokes: Strokes) -> Aim:
    first, last = strokes.grips[0], strokes.grips[-1]
    middle = replace(first, x=(first.x + last.x) / 2, y=(first.y + last.y) / 2)
    reach = math.dist((first.x, first.y), (strokes.grips[1].x, strokes.grips[1].y)) / 2
    numbers = {"reach": reach, "strokes": len(strokes.grips) / 2, "cruise": _cruise(arm, held) - first.z}
    return Aim(middle, numbers, strokes.heading, first)


def _cruise(arm: Arm, held: Held) -> float:
    return arm.cruise_height(hanging(arm, held.item.name), ignore=held.item.name)


def _wiped(arm: Arm, name: str, held: Held, strokes: Strokes) -> Script:
    """To where the strokes begin, or on from where the hand is among them, until the stain is gone."""
    for movement in _movements(arm, held, strokes):
        yield from movement
        arm.grip = grip_of(arm.observation.T_base_gripper)
        # Each stroke to its end: who learns from it shall not take a place on the way for the reason to leave.
        if clean(arm.scene, name):
            break


def _movements(arm: Arm, held: Held, strokes: Strokes) -> Iterator[Script]:
    first, straight = strokes.grips[0], _goes_straight(arm, held, strokes)
    ahead = strokes.ahead_of(arm.grip) if straight and bottom(held.item) <= ON_TABLE else strokes.grips
    if ahead == strokes.grips:
        way = [Leg(first, SPEED)] if straight else arm.travel(first, _cruise(arm, held))
        yield arm.move("approach", way, stop_early=True, straight=straight)
        ahead = ahead[1:]
    for corner in ahead:
        yield arm.move("wipe", [Leg(corner, SPEED)], stop_early=True, straight=True)


def _goes_straight(arm: Arm, held: Held, strokes: Strokes) -> bool:
    """Whether what is held lies on the table near the strokes, or is above where they begin, with a free way."""
    first, hand = strokes.grips[0], arm.grip
    near = math.dist((hand.x, hand.y), (first.x, first.y)) <= NEAR and abs(wrap(hand.yaw - first.yaw)) <= TURNED
    lies = near and bottom(held.item) <= ON_TABLE
    if not lies and not in_funnel(hand, first, first.z):
        return False
    parts, zones = (lambda at: parts_of(held, at)), arm.observation.zones
    return is_clear([hand, first], parts, arm.scene, {held.item.name}, zones)


def _leave(arm: Arm, carried: str) -> Script:
    """Up from the table, as far as that is still to be done."""
    arm.grip = grip_of(arm.observation.T_base_gripper)
    height = LIFT + (hanging(arm, carried) if carried else 0.0)
    if arm.grip.z < height:
        yield from arm.move("lift", [arm.rise(height)])
