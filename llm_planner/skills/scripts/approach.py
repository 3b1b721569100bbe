"""Script of an arm on a mobile base: drive to a table."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.programs.values import Argument
from llm_planner.scene.driven_base import within_reach
from llm_planner.scene.names import the
from llm_planner.skills.arm import Script
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.mobile_arm import MobileArm, parking
from llm_planner.skills.scripts.basic import go_home

SETTLE = 0.3  # [s] for arm or base to come to rest before the other moves


def approach(robot: MobileArm, arguments: Mapping[str, Argument]) -> Script:
    """Tuck the arm, leave the table, drive to where the arm reaches `object`, and face the table there."""
    name = str(arguments["object"])
    if within_reach(robot.observation.scene, name):
        return
    place = parking(robot.observation.scene, name, robot.observation.zones)
    yield from go_home(robot.arm, {})
    yield from robot.arm.rest("settle", SETTLE)
    robot.drives()
    yield from robot.base.back_off()
    yield from robot.base.park(place)
    yield from robot.base.rest("settle", SETTLE)
    if not within_reach(robot.observation.scene, name):
        raise SkillError(SkillErrorCode.UNREACHABLE, f"the base stands where the arm does not reach {the(name)}")
