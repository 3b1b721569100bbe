"""Press a button with closed fingers until its lamp is lit."""

import math

from llm_planner import Arm, HandPose, SceneObject, Script, SkillError, SkillErrorCode
from llm_planner.scene.geometry import top
from llm_planner.scene.names import the
from llm_planner.scene.predicates import lit
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.contract import Arguments
from llm_planner.skills.grasps import pressing_grip
from llm_planner.skills.hand_geometry import Aim, hand_slices, room
from llm_planner.skills.paths import operate as plan

__all__ = ["move", "plan"]

DEPTH = 0.9  # share of the cap's travel
CLEAR = 0.01  # [m] above the cap, from where the hand only has to descend
DWELL = 3  # [skill periods] at the lowest point
ATTEMPTS = 2
LEFT = 0.05  # [m] fingertips above the button after the retreat
NEAR = 0.05  # [m] horizontal distance from the button beyond which no retreat is needed


def move(arm: Arm, arguments: Arguments) -> Script:
    """Press the button `object` with closed fingers until its lamp is lit."""
    name = str(arguments["object"])
    for _ in range(ATTEMPTS):
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
    yield from _leave(arm, arm.find(name))
    if not lit(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was pressed, and its lamp is dark")


def _close(arm: Arm) -> Script:
    """Close the fingers; if an object is between them, rise above it first."""
    if room(hand_slices(arm.grip, 0.0, arm.gripper), arm.scene)[0] < 0.0:
        yield from arm.move("rise", [arm.rise(arm.cruise_height())])
    yield from arm.fingers("close", 0.0)


def _press(arm: Arm, item: SceneObject, on: HandPose, down: HandPose) -> Script:
    """Press down and stay for a moment, so that a policy learned from this motion learns the depth."""
    legs = arm.straight_down(down, on.z + CLEAR, arm.opened(0.0), {item.name})
    yield from arm.move("press", legs or arm.travel(down, arm.cruise_height()), stop_early=True)
    for _ in range(DWELL):
        yield arm.hold()
    arm.grip = arm.hand


def _leave(arm: Arm, item: SceneObject) -> Script:
    """Rise from the button, unless the hand has left it already."""
    height = top(item) + LEFT + arm.gripper.tip
    if arm.grip.z < height and math.dist((arm.grip.x, arm.grip.y), item.position[:2]) <= NEAR:
        yield from arm.move("retreat", [arm.rise(height)])
