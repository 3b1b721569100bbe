"""Close the fingers at the current pose of the hand, or press them against an object between them."""

from llm_planner.skills.paths import stay as plan
from llm_planner.skills.scripts.basic import close_gripper as move

__all__ = ["move", "plan"]
