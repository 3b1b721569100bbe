"""Point at an object from above, then rise again."""

from llm_planner import Arm, Leg, MotionPath, Script, SkillCall
from llm_planner.skills.paths import hover_over
from llm_planner.skills.scripts.basic import hover


def move(arm: Arm, arguments: dict) -> Script:
    """Each `yield from` is one movement; the controller keeps every limit. Units: m, rad."""
    goal = hover(arm.find(arguments["object"]))  # a HandPose: x, y, z of the fingertips and the yaw of the hand
    yield from arm.move("approach", arm.travel(goal, arm.cruise_height()))
    yield from arm.move("point", [Leg(goal.raised(goal.z + 0.03)), Leg(goal)])


def plan(call: SkillCall) -> MotionPath | None:
    """The path that rehearsal, rules and search go by; None where it cannot be foreseen."""
    return hover_over(call)
