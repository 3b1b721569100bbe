"""Press: closed fingers above the button, straight down until its lamp is lit, up again."""

from __future__ import annotations

import math
from collections.abc import Mapping

from llm_planner.simulation.objects import spec_of
from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.descent import in_funnel, is_clear
from llm_planner.skills.errors import SkillError
from llm_planner.skills.furnishing import pressing_grip
from llm_planner.skills.gripper_shape import TIP, Grip, grip_of, hand_slices, room
from llm_planner.skills.motion import Leg
from llm_planner.world.geometry import top
from llm_planner.world.names import the
from llm_planner.world.predicates import lit
from llm_planner.world.scene import SceneObject

DEPTH = 0.9  # of the way that the cap has
CLOSED = 0.004  # [m] between fingers that count as closed
CLEAR = 0.01  # [m] over the cap where the hand only has to go down
DWELL = 3  # skill periods
ATTEMPTS = 2
LEFT = 0.05  # [m] of the fingertips over a button that has been left
NEAR = 0.05  # [m] from its middle, seen from above, beyond which there is nothing to leave


def press(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Lights the lamp of the button `object`."""
    name = str(arguments["object"])
    for _ in range(ATTEMPTS):
        item = arm.find(name)
        if lit(arm.scene, name):
            break
        on = pressing_grip(arm.scene, item)
        sliding = spec_of(item).shape.sliding
        depth = DEPTH * (sliding.travel if sliding else 0.0)
        arm.aim = Aim(on, {"depth": depth, "cruise": arm.cruise_height() - on.z})
        if arm.observation.gripper_width > CLOSED:
            yield from _close(arm)
        yield from _press(arm, item, on, on.raised(on.z - depth))
    yield from _leave(arm, arm.find(name))
    if not lit(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was pressed, and its lamp is dark")


def _close(arm: Arm) -> Script:
    """Close the fingers, above whatever is between them."""
    if room(hand_slices(arm.grip, 0.0), arm.scene)[0] < 0.0:
        yield from arm.move("rise", [arm.rise(arm.cruise_height())])
    yield from arm.fingers("close", 0.0)


def _press(arm: Arm, item: SceneObject, on: Grip, down: Grip) -> Script:
    """Down onto it, all the way, and a moment there: who only saw it touched would not learn how deep."""
    yield from arm.move("press", _way(arm, item, on, down), stop_early=True)
    for _ in range(DWELL):
        yield arm.hold()
    arm.grip = grip_of(arm.observation.T_base_gripper)


def _way(arm: Arm, item: SceneObject, on: Grip, down: Grip) -> list[Leg]:
    """Straight down from above, else up, over and down."""
    apex = on.z + CLEAR
    if in_funnel(arm.grip, down, apex):
        legs = arm.descent(down, apex)
        corners = [arm.grip, *(leg.to for leg in legs)]
        if is_clear(corners, lambda at: hand_slices(at, 0.0), arm.scene, {item.name}, arm.observation.zones):
            return legs
    return arm.travel(down, arm.cruise_height())


def _leave(arm: Arm, item: SceneObject) -> Script:
    """Rise from it, as far as that is still to be done."""
    height = top(item) + LEFT + TIP
    if arm.grip.z < height and math.dist((arm.grip.x, arm.grip.y), item.position[:2]) <= NEAR:
        yield from arm.move("retreat", [arm.rise(height)])
