"""Pick: go above the object, down around it, close, lift."""

from __future__ import annotations

import math
from collections.abc import Mapping

from llm_planner.skills.arm import SQUEEZE, Arm, Script, hanging
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.grasps import Grasp, choose_grasp
from llm_planner.world.names import the

MOVED = 0.006  # [m] an object that has moved this much since the grasp was chosen is looked at again
ATTEMPTS = 2


def pick(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` in the fingers, lifted above everything else on the table."""
    name = str(arguments["object"])
    for attempt in range(ATTEMPTS):
        grasp = choose_grasp(arm.scene, arm.find(name))
        yield from _go_around(arm, name, grasp)
        yield from arm.fingers("close", max(0.0, grasp.width - SQUEEZE))
        if arm.scene.held == name:
            break
        yield from arm.fingers("open", grasp.opening)
        if attempt == ATTEMPTS - 1:
            raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed without taking hold of {the(name)}")
        yield from arm.retreat()
    yield from _lift(arm, name)


def _go_around(arm: Arm, name: str, grasp: Grasp) -> Script:
    arm.width = grasp.opening
    position = arm.find(name).position
    yield from arm.move("approach", arm.travel(grasp.grip, arm.cruise_height()))
    if math.dist(arm.find(name).position, position) > MOVED:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} moved while the hand was on its way; try again")


def _lift(arm: Arm, name: str) -> Script:
    before = arm.find(name).position[2]
    height = arm.cruise_height(hanging(arm, name), ignore=name)
    yield from arm.move("lift", [arm.rise(max(height, arm.grip.z + 0.03))])
    arm.require_held(name)
    if arm.find(name).position[2] < before + 0.02:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} stayed behind when the hand rose")
