"""Move the fingertips above an object without touching it, with the hand pointing down."""

from llm_planner import Arm, Leg, Script
from llm_planner.scene.names import the
from llm_planner.skills.arm_paths import in_funnel
from llm_planner.skills.contract import Arguments
from llm_planner.skills.hand_geometry import Aim, check_reach
from llm_planner.skills.paths import hover_over as plan
from llm_planner.skills.scripts.basic import hover

__all__ = ["move", "plan"]


def move(arm: Arm, arguments: Arguments) -> Script:
    """Move the grip point to `HOVER` above the top of `object`."""
    item = arm.find(str(arguments["object"]))
    check_reach(item.position[0], item.position[1], the(item.name), arm.shape)
    goal, hand = hover(item, arm.shape.neutral), arm.opened(arm.observation.gripper_width)
    arm.aim = Aim(goal, {"cruise": arm.cruise_height() - goal.z})
    if in_funnel(arm.grip, goal, goal.z) and arm.is_clear([goal], hand):
        yield from arm.move("approach", [Leg(goal)])
    else:
        yield from arm.move("approach", arm.travel(goal, arm.cruise_height()))
