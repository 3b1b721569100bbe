"""Reverse into a docking station to charge: stop in front of it, turn the back to it and creep in."""

from math import dist, radians

from llm_planner import Base, Script, SkillError, SkillErrorCode
from llm_planner.scene.furniture import docked, docking_pose
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.names import the
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]

BEFORE = 0.6  # [m] in front of its docked pose, where the base stops and turns
SPEED = 0.15  # [m/s]
ALIGNED, FACING = 0.01, radians(1.0)  # [m], [rad] tolerance of the pose before the base reverses in
ARRIVED = 0.008  # [m]
TRIES = 3


def move(base: Base, arguments: Arguments) -> Script:
    """Reverse the base into `station`.

    Raises SkillError (UNREACHABLE, NO_FREE_SPACE; EFFECT_MISSING if the final pose is off).
    """
    name = str(arguments["station"])
    for _ in range(TRIES):
        station = base.find(name)
        if docked(base.scene, name):
            return
        before = docking_pose(station, BEFORE)
        if dist(base.position, before.position[:2]) > base.settings.arrived:
            yield from base.drive("approach", before.position[:2])
        yield from base.turn("turn", yaw_of(before))
        yield from base.creep("align", before, SPEED, ALIGNED, FACING)
        yield from base.creep("back in", docking_pose(base.find(name)), SPEED, ARRIVED, FACING)
        yield from base.rest("settle", base.settings.fingers_time)
    if not docked(base.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"the robot does not stand in {the(name)} as it should")
