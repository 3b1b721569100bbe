"""Dock: to a stop before a station, the back to it, and then in backwards, slowly."""

from __future__ import annotations

from collections.abc import Mapping
from math import dist, radians

from llm_planner.simulation.rooms.base import yaw_of
from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.world.docking import docked, docking_pose
from llm_planner.world.names import the

BEFORE = 0.6  # [m] before its place the base stops and turns
SPEED = 0.15  # [m/s]
ALIGNED, FACING = 0.01, radians(1.0)  # [m], [rad] off its line and its direction, before it backs in
ARRIVED = 0.008  # [m]
TRIES = 3


def dock(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves the base in `station`; raises SkillError (UNREACHABLE, NO_FREE_SPACE), (EFFECT_MISSING) where it stands
    askew after all."""
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
