"""Drive to where the arm reaches an object on a table, or to a table."""

from llm_planner import Script, SkillError, SkillErrorCode
from llm_planner.scene.driven_base import within_reach
from llm_planner.scene.names import the
from llm_planner.skills.contract import Arguments
from llm_planner.skills.mobile_arm import MobileArm, parking
from llm_planner.skills.paths import approach as plan
from llm_planner.skills.scripts.basic import go_home

__all__ = ["move", "plan"]

SETTLE = 0.3  # [s] for arm or base to come to rest before the other moves


def move(robot: MobileArm, arguments: Arguments) -> Script:
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
